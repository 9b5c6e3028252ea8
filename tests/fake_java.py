"""A fake `java` that is a CoreNLP server or EasyCCG, and fails on sentences with special words (CRASH...).

Each analysis depends only on the words of its sentence, so that a test knows the correct analysis of every sentence.
"""

import json
import os
import re
import signal
import subprocess
import sys
import time
from base64 import b64encode
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

JAVA_TRIM = "".join(map(chr, range(33)))


def tag(word):
    return f"T{len(word)}"


def heads(words):
    return [0, *range(1, len(words))]


def category(word):
    return "N" if len(word) % 2 else r"(S[dcl]\NP)/NP"


def brackets(words):
    leaves = " ".join(f"({tag(word)} {word.replace('(', '-LRB-').replace(')', '-RRB-')})" for word in words)
    return f"(X {leaves})" if "FLAT" in words else f"(ROOT (S {leaves}))"


def alive(pid):
    """Return whether a process is running; a zombie is not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def wait_until(condition, seconds=30):
    """Wait until `condition()` is true, at most `seconds`; return its last value."""
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.05)
    return condition()


def fail_on(words):
    """Hang, crash or be killed if one of the words says so."""
    if "HANG" in words:
        log(subprocess.Popen(["sleep", "999"]).pid)
        time.sleep(999)
    if "KILLED" in words:
        os.kill(os.getpid(), signal.SIGKILL)
    if "CRASH" in words:
        print("\tat edu.a.B(B.java:1)\nException in thread main: oh dear\n\tat edu.a.C(C.java:2)", file=sys.stderr)
        sys.stderr.flush()
        os._exit(1)


def distorted(sentences):
    """Skip, split or change sentences that have such a word; stop at a sentence with SHORT."""
    for words in sentences:
        if "SHORT" in words:
            return
        if "SPLIT" in words:
            yield words[:1]
            yield words[1:]
        elif "OTHER" in words:
            yield [word.lower() for word in words]
        elif "SKIP" not in words:
            yield words


class CoreNlpHandler(BaseHTTPRequestHandler):
    """Answers like CoreNLP's server."""

    def do_POST(self):
        properties = json.loads(parse_qs(urlsplit(self.path).query)["properties"][0])
        text = self.rfile.read(int(self.headers["Content-Length"])).decode("utf-8")
        sentences = [re.sub(" +", " ", line).split(" ") for line in text.split("\n") if line]
        for words in sentences:
            fail_on(words)
        status, output = 200, b""
        if self.headers["Authorization"] != self.server.authorization:
            status = 401
        elif any("POISON" in words for words in sentences):
            status, output = 500, b"java.lang.IllegalStateException: no\n"
        elif any("GARBAGE" in words for words in sentences):
            output = b"\xff\x00\tnonsense {"
        elif properties["outputFormat"] == "conllu":
            output = "".join(map(conllu, distorted(sentences))).encode()
        else:
            parses = [{"parse": brackets(words).replace(" (S", "\n  (S")} for words in distorted(sentences)]
            output = json.dumps({"sentences": parses}).encode()
        self.send_response(status)
        self.end_headers()
        self.wfile.write(output)


def conllu(words):
    rows = zip(words, range(len(words), 0, -1) if "CYCLE" in words else heads(words), strict=True)
    lines = [
        f"{n}\t{word}\t_\t_\t{tag(word)}\t_\t{head}\t{'dep' if head else 'root'}\t_\t_\n"
        for n, (word, head) in enumerate(rows, start=1)
    ]
    return "".join(lines) + "\n"


def corenlp():
    _, *arguments = sys.stdin.read().split()
    options = dict(zip(arguments[::2], arguments[1::2], strict=True))
    server = HTTPServer(("127.0.0.1", int(options["-port"])), CoreNlpHandler)
    credentials = f"{options['-username']}:{options['-password']}".encode()
    server.authorization = f"Basic {b64encode(credentials).decode()}"
    server.serve_forever()


def easyccg(options):
    text = Path(options["--inputFile"]).read_bytes().decode("utf-8")
    lines = [line for line in text.split("\n") if line and not line.startswith("#")]
    sentences = [re.sub("  +", " ", line.replace('"', "")).strip(JAVA_TRIM).split(" ") for line in lines]
    print("Loading model...\nParsing...", file=sys.stderr)
    number = 0
    for sentence in sentences:
        fail_on(sentence)
        for words in distorted([sentence]):
            number += 1
            print(f"ID={number}", flush=True)
            if "GARBAGE" in words:
                sys.stdout.buffer.write(b"(<T \xff\xfe\n")
            elif "FAIL" in words or len(words) >= int(options["--maxLength"]):
                print("(<L NP NN NN fail N>)", flush=True)
            else:
                print(derivation(words), flush=True)
        if "SHORT" in sentence:
            return


def derivation(words):
    escapes = {"(": "-LRB-", "{": "-LRB-", ")": "-RRB-", "}": "-RRB-"}
    leaves = [f"(<L {category(word)} POS POS {escapes.get(word, word)} {category(word)}>) " for word in words]
    text = leaves[0]
    for leaf in leaves[1:]:
        text = f"(<T S[dcl] 0 2> {text}{leaf}) "
    return text


def log(pid):
    with open(os.environ["FAKE_LOG"], "a", encoding="utf-8") as file:
        file.write(f"{pid}\n")


def main():
    log(os.getpid())
    if os.environ.get("FAKE_BROKEN"):
        print("Error: Could not find or load main class\nCaused by: no such thing", file=sys.stderr)
        sys.exit(1)
    arguments = [argument for argument in sys.argv[1:] if not re.match("-(X|D)", argument)]
    if "@/dev/stdin" in arguments:
        corenlp()
    else:
        easyccg(dict(zip(arguments[::2], arguments[1::2], strict=True)))


if __name__ == "__main__":
    main()
