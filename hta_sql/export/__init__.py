"""Write traces in Chrome's format with what was found in them, for Perfetto.

`file` writes the file, `choice` finds whose trace it is, `perfetto` writes ranks side by side,
`sequences` marks what operators launch. What is written is said in sql/export.
"""
