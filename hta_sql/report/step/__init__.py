"""The step as one picture: what threads and GPU streams do in a step of a rank.

`windows` finds the times that are shown, and `picture` reads what happens in them. `step.js` draws
a picture; a page may have several, each with data of its own.
"""
