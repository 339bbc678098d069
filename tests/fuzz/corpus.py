"""Where fuzzing begins: small files, each with the reason that it is there."""

EVENT = b'{"ph":"X","name":"a","ts":1,"dur":1,"args":{}}'

# Name, bytes, why.
CORPUS = (
    ("sound", b'{"traceEvents":[%b,%b],"a":1}' % (EVENT, EVENT), "what all others differ from"),
    ("bare list", b"[%b,%b]" % (EVENT, EVENT), "a trace without keys"),
    ("cut", b"[%b,%b" % (EVENT, EVENT[:-9]), "the program died while it wrote"),
    ("unknown word", b'[%b,{"ph":"M","pid":nul},%b]' % (EVENT, EVENT), "resynchronisation"),
    ("two broken ones", b'[{"ph":nul},{"ph":nul},%b]' % EVENT, "each is an element of its own"),
    ("quote", b'[{"ph":"X","name":"a"b"},%b]' % EVENT, "a quote that is not escaped"),
    ("backslash", b'[{"ph":"X","name":"a\\q\\"},%b]' % EVENT, "escapes that are none"),
    ("bracket", b"[%b],%b]" % (EVENT, EVENT), "a bracket that does not end the list"),
    ("list in list", b"[[%b],[%b]]" % (EVENT, EVENT), "a bracket too many"),
    ("two files", b'{"traceEvents":[%b]}{"traceEvents":[%b]}' % (EVENT, EVENT), "appended"),
    ("two lists", b'{"traceEvents":[%b],"traceEvents":[%b]}' % (EVENT, EVENT), "one key twice"),
    ("null", b'{"traceEvents":null}', "the key is there, the list is not"),
    ("key in text", b'{"a":"\\"traceEvents\\":[","traceEvents":[%b]}' % EVENT, "a false head"),
    ("deep", b'[{"ph":"X","args":%b1%b}]' % (b"[" * 99, b"]" * 99), "recursion"),
    ("no comma", b"[%b %b]" % (EVENT, EVENT), "elements without a comma"),
    ("NaN", b'[{"ph":"X","ts":NaN,"dur":-Infinity}]', "numbers that only Python writes"),
    ("bad UTF-8", b'[{"ph":"X","name":"\xff\xed\xa0\x80"}]', "bytes that are no text"),
    ("zeros", b"[%b,\0\0\0%b]" % (EVENT, EVENT), "a hole of a crashed disk"),
    ("empty", b"", "nothing"),
)
