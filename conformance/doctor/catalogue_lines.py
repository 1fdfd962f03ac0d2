"""Findings about the process, its lines and its ids."""

from __future__ import annotations

from conformance.doctor.findings import Entry

LINES_SECTION = "Lines, ids and order"
ANSWERS_SECTION = "Answers"
HELLO_SECTION = "hello"
STDOUT = "stdout carries answers and nothing else; a run charges any other line to the adapter."

LINES = (
    Entry(
        "cannot-start", "error", "the command cannot be started",
        "A run starts the command without a shell, in the current folder.", LINES_SECTION,
        "Check the path and that the file is executable (chmod +x, a first line such as #!/usr/bin/env"
        " node), or name the interpreter: stdio:'node adapter.mjs'. Shell words such as &&, pipes or ~ need"
        " sh -c '…'.",
    ),
    Entry(
        "dies-at-start", "error", "the process ends before it has answered hello",
        "Nothing can be asked of it.", HELLO_SECTION,
        "Run the command by hand and read its stderr: a module that is not found, a wrong folder, an"
        " argument that is missing. It must read stdin until that ends, and not leave after start-up.",
    ),
    Entry(
        "silent", "error", "hello is not answered",
        "Hello is the first request, and a run gives up on it after 30 s.", HELLO_SECTION,
        'Read stdin line by line in a loop, parse each line, and for "op":"hello" write the answer on'
        " stdout. Make sure that the program waits for nothing else (a prompt, a network, a debugger).",
    ),
    Entry(
        "not-flushed", "error", "an answer stays in the adapter's buffer, or waits for more input",
        "The next request may not come before this answer; a run would wait until its time limit.",
        LINES_SECTION,
        "Flush after each answer and read line by line, not until the end of input. Python: print(text,"
        " flush=True) and for line in sys.stdin. C, C++: fflush(stdout), std::endl. Go: Flush of the"
        " bufio.Writer. Rust: stdout().lock().flush(). Java: flush of the writer. Ruby: $stdout.sync ="
        " true. Node: process.stdout.write at once, not in on('end').",
    ),
    Entry(
        "slow-start", "warning", "it takes long from the start of the process to the answer to hello",
        "A run gives 30 s, and starts a fresh process after every crash or hang.", LINES_SECTION,
        "Start the compiled program, not a build tool (go build, cargo build --release, tsc, jar; no npx,"
        " go run, cargo run), and load what is heavy only when it is asked for.",
    ),
    Entry(
        "hello-wrong", "error", "the answer to hello does not have the members that it needs",
        "Without them a run does not know what may be asked, and stops.", HELLO_SECTION,
        'Answer {"id":0,"result":{"protocol":1,"implementation":{"name":"…"},"capabilities":["fold"],'
        '"editions":["v0"]}}.',
    ),
    Entry(
        "hello-protocol", "error", "hello tells of another protocol than 1",
        "A run speaks protocol 1 and no other.", HELLO_SECTION,
        'The result of hello has "protocol": 1. It is the version of the protocol, not that of the'
        " implementation.",
    ),
    Entry(
        "hello-any-protocol", "note", "hello with a protocol that does not exist is accepted",
        "Who does not speak the protocol asked for answers error, so that a later suite does not misread"
        " it.", HELLO_SECTION,
        "Compare the member protocol of the request with 1, and answer error if it is another.",
    ),
    Entry(
        "hello-changes", "error", "a fresh process declares something else than the first one did",
        "After a restart the capabilities have to be the same, or a run stops.", HELLO_SECTION,
        "Declare a fixed list; do not compute it from files, from the time, or from what was asked before.",
    ),
    Entry(
        "capability-unknown", "warning", "hello declares what this suite does not know",
        "Only what is spelled as in the table of operations is asked; the rest counts as undeclared.",
        HELLO_SECTION,
        "Spell capabilities as the protocol page does: fold, messages, project, classify, transcript,"
        " window, surface.live, session.live, messages.linear-fallback, tutorial, isolation.",
    ),
    Entry(
        "nothing-declared", "error", "hello declares nothing that could be asked",
        "A run of nothing is no pass.", HELLO_SECTION,
        'Declare at least one operation, such as "capabilities": ["fold"], and "editions": ["v0"].',
    ),
    Entry(
        "stdout-log", "error", "a line on stdout is no answer",
        STDOUT, LINES_SECTION,
        "Write logs to stderr. Python: print(…, file=sys.stderr), logging does so by itself. Node:"
        " console.error, and console.log = console.error before the implementation is loaded. Java:"
        " System.setOut(System.err) and keep the real stream. Rust: eprintln!. Go: log, or os.Stderr."
        " Banners of npm or a build tool: call the program itself.",
    ),
    Entry(
        "stdout-after-end", "error", "it writes to stdout after its last answer",
        STDOUT, LINES_SECTION,
        "A farewell or a statistic belongs on stderr; look at exit handlers and at what runs behind the"
        " loop.",
    ),
    Entry(
        "blank-line", "error", "there is an empty line on stdout",
        STDOUT, LINES_SECTION,
        "Write one line end per answer: print and println add one, so the text must not end with one too.",
    ),
    Entry(
        "bom", "error", "a byte order mark stands before an answer",
        "Lines are UTF-8 without one; the first answer cannot be read.", LINES_SECTION,
        "Write UTF-8 without BOM. C#: new UTF8Encoding(false) for Console.OutputEncoding or the"
        " StreamWriter. PowerShell: $OutputEncoding without BOM. Python: utf-8, not utf-8-sig. Java: do not"
        " write \\uFEFF.",
    ),
    Entry(
        "crlf", "note", "lines end with CR LF",
        "Lines end with a line feed. A run reads the CR as a blank, so it does no harm.", LINES_SECTION,
        "Write \\n. Python: sys.stdout.reconfigure(newline='\\n'). C#: Console.Out.NewLine = \"\\n\". C on"
        " Windows: _setmode to _O_BINARY. Java: print(text + '\\n'), not println.",
    ),
    Entry(
        "invalid-utf8", "error", "an answer is not UTF-8",
        "Such a line cannot be read.", LINES_SECTION,
        "Write UTF-8, or ASCII with \\u escapes. Python: json.dumps as it is (ensure_ascii), or"
        " sys.stdout.reconfigure(encoding='utf-8'). Java: new PrintStream(out, true, \"UTF-8\"). C#:"
        " Console.OutputEncoding = new UTF8Encoding(false). Ruby: $stdout.set_encoding('UTF-8').",
    ),
    Entry(
        "nan", "error", "an answer holds NaN or Infinity",
        "They are no JSON, and a run cannot read the line.", LINES_SECTION,
        "Find the computation they come from: no answer of this protocol needs them. Python: json.dumps(…,"
        " allow_nan=False) shows where; JavaScript writes null by itself.",
    ),
    Entry(
        "many-lines", "error", "one answer takes several lines",
        "One answer is one line.", LINES_SECTION,
        "Write compact JSON. Python: json.dumps without indent. JavaScript: JSON.stringify(answer) without"
        " a third argument. Go: json.Marshal, not MarshalIndent. Rust: to_string, not to_string_pretty. C#:"
        " WriteIndented = false. jq: -c.",
    ),
    Entry(
        "no-line-end", "error", "an answer has no line end",
        "A line is read when its line feed comes; without one the answer is waited for until the time"
        " limit.", LINES_SECTION,
        "Write a \\n behind each answer, then flush. Node: process.stdout.write(text + '\\n'). Rust:"
        " writeln!. Go: append '\\n', or json.Encoder. C: printf(\"%s\\n\", …).",
    ),
    Entry(
        "answer-unreadable", "error", "a line that looks like an answer is no JSON",
        "It cannot be read, so its request has no answer.", LINES_SECTION,
        "Let a JSON library write the whole answer; no text put together by hand. Python:"
        " json.dumps(answer), not print(answer). Quotes, control characters and backslashes in texts need"
        " escapes.",
    ),
    Entry(
        "id-missing", "error", "an answer has no id",
        "Without its id nobody knows which request it answers.", LINES_SECTION,
        "Copy the id of the request into every answer, also into the answer of an error path.",
    ),
    Entry(
        "id-text", "error", "the id comes back as a text",
        'An id is an integer, and 5 is not "5".', LINES_SECTION,
        "Keep the id as the integer that was parsed; do not format it. Typed languages: a field of 64 bits,"
        " not string.",
    ),
    Entry(
        "id-fraction", "error", "the id comes back with a point or exponent",
        "An id is an integer, and 5.0 is none on the wire.", LINES_SECTION,
        "Parse the id into an integer, not into a double. Lua, PHP, C with cJSON: format it without a"
        " fraction.",
    ),
    Entry(
        "id-unknown", "error", "an answer has the id of no open request",
        "Answers pair with requests by id; a run charges such a line to the adapter.", LINES_SECTION,
        "Copy the id of the request; do not count answers yourself, ids may have gaps.",
    ),
    Entry(
        "id-squeezed", "error", "a large id comes back as another number",
        "Integers on a request line go up to 2^53-1.", LINES_SECTION,
        "Keep ids in 64-bit integers: i64 in Rust, int64 in Go (not a map[string]any that prints floats),"
        " long in Java and C#, std::int64_t in C++; no int of 32 bits and no float.",
    ),
    Entry(
        "answer-repeated", "error", "a request is answered twice",
        "Every request gets exactly one answer.", LINES_SECTION,
        "Look for a path that goes on after it has answered: a missing return, continue or else, or a"
        " finally block.",
    ),
    Entry(
        "not-finished", "warning", "not all checks could be made",
        "What was not looked at may be at fault too.", LINES_SECTION,
        "Repair what is found first, or make the adapter start faster, and examine it again.",
    ),
    Entry(
        "dies", "error", "the process ends over a request",
        "It should answer; what goes wrong in the implementation is crashed, in the adapter error.",
        ANSWERS_SECTION,
        "Catch what the call throws, around this one request, and answer crashed with its type and text."
        " Read the stderr above. Loops that end after the first answer also look like this.",
    ),
    Entry(
        "hangs", "error", "a request is not answered",
        "Every request gets exactly one answer, within 10 s in a run.", LINES_SECTION,
        "Look for a path that answers nothing: an unknown op, an early continue, a promise that is not"
        " awaited, an exception in another thread.",
    ),
)  # fmt: skip
