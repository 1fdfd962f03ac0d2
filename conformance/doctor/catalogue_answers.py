"""Findings about answers, members, texts, several requests at once, and the end of input."""

from __future__ import annotations

from conformance.doctor.findings import Entry

LINES_SECTION = "Lines, ids and order"
ANSWERS_SECTION = "Answers"
TEXT_SECTION = "NAME and NAME_text"
REFUSAL_SECTION = "Refusal or crash?"
OPERATIONS_SECTION = "Operations"
CONDITION_SECTION = "condition, message, at"

ANSWERS = (
    Entry(
        "two-kinds", "error", "an answer is of two kinds at once",
        "An answer holds exactly one of result, rejected, crashed, unsupported, error.", ANSWERS_SECTION,
        "Write only the member that is meant; leave out null members (serde: skip_serializing_if; Go:"
        " omitempty on a pointer; C#: JsonIgnoreCondition.WhenWritingNull).",
    ),
    Entry(
        "no-kind", "error", "an answer is of no kind",
        "An answer holds exactly one of result, rejected, crashed, unsupported, error.", ANSWERS_SECTION,
        'Put what came out under "result": {"id":5,"result":{…}}; the names are all in lower case.',
    ),
    Entry(
        "result-no-object", "error", "a result is no object",
        "A result is always an object, also for an operation with one thing to say.", ANSWERS_SECTION,
        'Name it as the table of operations does: {"message": …}, {"messages": […]}, {"nodes": […], …};'
        " never a bare list, null or text.",
    ),
    Entry(
        "answer-malformed", "error", "what stands under the kind of an answer has the wrong type",
        "rejected is an object with condition (text), at (index from 0) and message (text), each optional;"
        " crashed, unsupported and error are texts.", ANSWERS_SECTION,
        'Write {"rejected":{"message":"…"}} and {"crashed":"TypeError: …"}; leave a member out instead of'
        " null or -1.",
    ),
    Entry(
        "result-shape", "error", "a result does not have the members of its operation",
        "Results are compared member by member, and none may be missing, too many or of another name.",
        OPERATIONS_SECTION,
        "Use the names of the table, in camelCase (replaceGeneration, shadowedSeqs): in Rust"
        ' #[serde(rename_all = "camelCase")], in Go a json tag, in Python the literal names; a missing'
        " message is null, not absent.",
    ),
    Entry(
        "declared-unsupported", "error", "an operation is declared, and answered unsupported",
        "unsupported is right only for what hello does not declare; a run counts it as a failure.",
        ANSWERS_SECTION,
        "Add the operation to the dispatch on op, spelled as in hello, or take it out of the capabilities.",
    ),
    Entry(
        "declared-error", "error", "a tiny valid request of a declared operation is answered error",
        "error says that the adapter failed; a run ends with exit code 3.", ANSWERS_SECTION,
        "Look at how the adapter reads the members named in the table: 0, [] and null are values, so test"
        " whether a member is there (in, hasOwn, contains_key), not whether it is true.",
    ),
    Entry(
        "valid-not-accepted", "warning", "a tiny valid request is not accepted",
        "This may be the implementation, which session-conformance run judges; but on so small an input it"
        " is mostly the call.", OPERATIONS_SECTION,
        "Read the text of the answer: a wrong name, argument or type in the adapter's call shows there."
        " Then let session-conformance run judge the implementation.",
    ),
    Entry(
        "not-declared", "note", "an operation is answered that hello does not declare",
        "Only what is declared is asked, so these cases would count as undeclared.", "hello",
        "Add it to the capabilities, if the answer is meant.",
    ),
    Entry(
        "unknown-operation", "warning", "an operation that nobody has is not answered unsupported",
        "What is not offered is answered unsupported, and later suites may ask more than this one.",
        ANSWERS_SECTION,
        'End the dispatch on op with a default: {"unsupported": "no operation NAME"}.',
    ),
    Entry(
        "edition-ignored", "note", "an edition that does not exist is answered",
        "Editions differ in their rules; what hello does not declare is unsupported.", "hello",
        "Compare the member edition with the editions of hello, and answer unsupported if it is none of"
        " them.",
    ),
    Entry(
        "member-not-ignored", "warning", "a member that the operation does not know changes the answer",
        "Requests may get more members; what an operation does not read, it ignores.", "Requests",
        "Read the members that the operation has and no other: no deny_unknown_fields, no"
        " DisallowUnknownFields, no **request into a function.",
    ),
    Entry(
        "text-ignored", "error", "the text spelling of a member is not read as the member is",
        "What is not plain travels as NAME_text in place of NAME, for every operation that is declared; all"
        " such cases would fail.", TEXT_SECTION,
        "Where the request has NAME_text, parse that string with the implementation's own JSON parser and"
        " go on with the value: events = parse(request.events_text) if it is there, else request.events;"
        " likewise every other member, best in one function that is given the name.",
    ),
    Entry(
        "text-turned-down", "error", "a text with -0, 0.0, 0e0 or a name given twice is answered error",
        "How the implementation's parser deals with them is what the cases ask; error says that the adapter"
        " failed.", TEXT_SECTION,
        "Hand the text to the parser that the implementation uses on stored logs, without a check of your"
        " own. If that parser refuses, the answer is rejected or crashed, as for any input.",
    ),
    Entry(
        "deep-text", "warning", "a text of 480 levels is answered error, or ends the process",
        "Texts may nest deeper than 64 levels; cases go up to 512.", TEXT_SECTION,
        "Raise the limit of the JSON parser. Rust: serde_json with unbounded_depth and"
        " disable_recursion_limit. C#: MaxDepth = 1024. Java with Jackson: maxNestingDepth. PHP: depth of"
        " json_decode. Ruby: max_nesting: false. If the implementation itself breaks there, answer crashed.",
    ),
    Entry(
        "exception-as-refusal", "error", "a request that cannot be read is answered rejected",
        "rejected is a clean refusal of the input by the implementation. Who catches everything and calls"
        " it a refusal makes the suite blind to crashes.", REFUSAL_SECTION,
        "Catch only the type that the implementation throws for refusals; let all else be crashed, and what"
        " the adapter cannot read error. Python: except InvalidLog, not except Exception. JavaScript: if (e"
        " instanceof SessionError). Java, C#: the one class. Go: errors.As. Rust: the error variant, and no"
        " catch_unwind around it.",
    ),
    Entry(
        "unparsable-as-refusal", "note", "a text that is no JSON is answered rejected",
        "That is right only if the implementation's own parser has a refusal for it.", REFUSAL_SECTION,
        "If the exception of a JSON library is what was caught, answer crashed.",
    ),
    Entry(
        "missing-member-accepted", "error", "a request without its payload is answered with a result",
        "A missing member is error. A default in its place hides NAME_text and misspelled members.",
        TEXT_SECTION,
        'Do not default to an empty list: no request.get("events", []), no events ?? []. Typed languages:'
        " tell absent from empty (Option, a pointer, TryGetProperty).",
    ),
    Entry(
        "missing-member-crash", "note", "a request without its payload is answered crashed",
        "A missing member is error, since it is not the implementation that failed. A run never sends this.",
        TEXT_SECTION,
        "Test for the member (or its text spelling) before the implementation is called.",
    ),
    Entry(
        "refusal-as-crash", "error", "logs that everybody refuses are answered crashed or error",
        "A clean refusal is rejected; a crash never passes as one, so every case of an invalid log would"
        " fail.", REFUSAL_SECTION,
        "Catch the type that the implementation throws for refusals (or look at its error value), and"
        ' answer {"rejected":{"condition":…,"at":…,"message":…}}, each optional. A language without types'
        " of errors: match the known texts of the ledger.",
    ),
    Entry(
        "refusal-without-reason", "note", "a refusal has neither condition nor message",
        "The condition then counts as not given; a run needs it only with --strict condition.",
        CONDITION_SECTION,
        "Give message, the text of the refusal; or condition, the ledger's name for it.",
    ),
    Entry(
        "at-no-index", "warning", "at is not the index of the event in the request",
        "at is 0-based and counts the elements of the request; in a window it differs from the seq. A run"
        " counts it only with --strict position.", CONDITION_SECTION,
        "Give the index of the element: seq - baseSeq in a window, no line number, nothing that begins with"
        " 1; or leave at out.",
    ),
    Entry(
        "not-judged", "note", "the answer to a log is not the expected kind",
        "That is the implementation's answer, which is not judged here.", ANSWERS_SECTION,
        "session-conformance run judges it, and shows the rule.",
    ),
    Entry(
        "empty-log", "error", "an empty log is not answered",
        "An empty list is a log like any other, and cases ask it.", OPERATIONS_SECTION,
        'Test whether the member is there, not whether it is true or has a length: Python "events" in'
        ' request, not request.get("events") or; Go a nil slice is no missing member.',
    ),
    Entry(
        "integers-squeezed", "error", "a large integer comes back as another number",
        "Integers go up to 2^53-1; doubles of 64 bits hold them, but floats and 32 bits do not.", "Requests",
        "Keep seqs in 64-bit integers or in doubles, on the way in and out: long, i64, int64; no int of 32"
        " bits, no float, no |0 or >>> in JavaScript, no %d of a cast.",
    ),
    Entry(
        "integers-refused", "warning", "a log with large seqs is not accepted",
        "Integers go up to 2^53-1. Either the adapter reads them into too small a type, or the"
        " implementation does.", "Requests",
        "Parse seq and baseSeq into 64 bits in the adapter; if they are, session-conformance run judges.",
    ),
    Entry(
        "non-ascii-lost", "error", "a text that is not ASCII does not come back as it was sent",
        "Texts are compared by code unit; plain ASCII came back as sent.", LINES_SECTION,
        "Read and write UTF-8 on both pipes, or write \\u escapes. Java: -Dfile.encoding=UTF-8 and explicit"
        " charsets. C#: Console.InputEncoding and OutputEncoding. Python: PYTHONUTF8=1 or ensure_ascii. C,"
        " C++: join surrogate pairs of \\u escapes.",
    ),
    Entry(
        "nul-lost", "error", "a text with NUL does not come back as it was sent",
        "U+0000 is a character like any other; texts are compared by code unit.", LINES_SECTION,
        "Pass texts with their length, not as C strings that end at NUL, and let a JSON library write"
        " \\u0000.",
    ),
    Entry(
        "surrogate-breaks", "error", "an answer with a lone surrogate ends in no answer",
        "Stored logs hold them, so cases do. The answer has to be told as text, or honestly as crashed.",
        TEXT_SECTION,
        "Write \\ud83d as an escape inside NAME_text (message_text, messages_text). Python: json.dumps with"
        " ensure_ascii, no encode('utf-8') of the raw text. JavaScript: JSON.stringify does it.",
    ),
    Entry(
        "surrogate-lost", "warning", "a lone surrogate comes back as another character",
        "Stored logs hold them, and such cases fail. Where the language's own strings cannot hold them,"
        " that is the implementation's, and session-conformance run judges it.", TEXT_SECTION,
        "Answer with NAME_text: a string that holds the JSON text of the member, with \\ud83d as an escape."
        " JavaScript: no toWellFormed and no Buffer on the way. Go and Rust cannot hold one in a string:"
        " keep the raw JSON (json.RawMessage, RawValue), or leave the case to fail.",
    ),
    Entry(
        "split-line", "error", "a request that arrives in two parts is not answered as one",
        "A pipe delivers bytes, not lines; what one read returns may end anywhere.", LINES_SECTION,
        "Collect until the line feed. Node: readline, or keep the rest of each chunk; not"
        " JSON.parse(chunk). C, C++: getline. Python: for line in sys.stdin, not os.read. Go:"
        " bufio.Reader.ReadBytes('\\n').",
    ),
    Entry(
        "large-request", "error", "a request of nearly 1 MiB is not answered as a small one is",
        "A line may have up to 1 MiB.", "Requests",
        "Read lines of any length. Go: bufio.Scanner stops at 64 KiB, so give it Buffer(nil, 1<<26), or use"
        " bufio.Reader. C: getline, not fgets into a fixed buffer. Perl, awk, shell read: mind their"
        " limits.",
    ),
    Entry(
        "in-flight", "error", "requests that come together are not all answered",
        "Up to 64 requests may be open at a time; a run sends them without waiting.", LINES_SECTION,
        "Handle every line of what a read returned, not the first one only; do not throw away what is"
        " buffered behind it, and make no new reader per request.",
    ),
    Entry(
        "answers-mixed", "error", "answers of requests that come together stand under each other's ids",
        "Answers pair with requests by id; verdicts would be about other cases.", LINES_SECTION,
        "Keep the id beside the request through the whole of its handling: a local variable, not a field or"
        " global that the next request overwrites while this one is awaited.",
    ),
    Entry(
        "out-of-order", "note", "answers come in another order than requests",
        "That is allowed, and each stands under its own id.", LINES_SECTION,
        "Nothing needs to be done.",
    ),
    Entry(
        "state-leaks", "error", "the same request is answered differently after others",
        "Each answer is independent; verdicts would depend on the order of cases.", LINES_SECTION,
        "Make a new log, session or view for every request; no globals, no default argument that is"
        " changed, no cache by identity; clear also after a refusal.",
    ),
    Entry(
        "exit-code", "error", "it does not exit with status 0 at the end of input",
        "A run charges it: an adapter that fails at the end may have failed before.", LINES_SECTION,
        "Leave the loop at the end of input and return 0. Python: input() raises EOFError, for line in"
        " sys.stdin does not. C#, Java: readLine gives null. Go: io.EOF is no error here.",
    ),
    Entry(
        "does-not-exit", "error", "it does not exit at the end of input",
        "A run waits 5 s, then ends the process and charges it.", LINES_SECTION,
        "End the loop when the read says that the input ended, and stop timers, threads, servers and pools."
        " Node: look for open handles, or process.exit(0) in on('end'). Java: daemon threads, shutdown of"
        " executors.",
    ),
    Entry(
        "unfinished", "error", "requests that are open when the input ends are not answered",
        "At the end of input, what is open is finished first.", LINES_SECTION,
        "Do not exit on the end of input itself: wait for what is under way (await all, join the workers),"
        " flush, then exit. Node: no process.exit in on('end') while answers are pending.",
    ),
)  # fmt: skip
