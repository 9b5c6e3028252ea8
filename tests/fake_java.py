"""A fake `java` that writes the output of CoreNLP or EasyCCG, and fails on sentences with special words (CRASH...).

Each analysis depends only on the words of its sentence, so that a test knows the correct analysis of every sentence.
"""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

JAVA_TRIM = "".join(map(chr, range(33)))


def tag(word):
    return f"T{len(word)}"


def heads(words):
    return [0, *range(1, len(words))]


def category(word):
    return "N" if len(word) % 2 else r"(S[dcl]\NP)/NP"


def brackets(words):
    leaves = " ".join(f"({tag(word)} {escaped(word)})" for word in words)
    return f"(X {leaves})" if "FLAT" in words else f"(ROOT (S {leaves}))"


def escaped(word):
    return word.replace("(", "-LRB-").replace(")", "-RRB-")


def alive(pid):
    """Return whether a process is running; a zombie is not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


def wait_until(condition, seconds=30):
    """Wait until `condition()` is true, at most `seconds`; return its last value."""
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.05)
    return condition()


def fail_on(words):
    """Hang, crash or be killed if one of the words says so."""
    if "HANG" in words:
        subprocess.Popen([sys.executable, "-c", f"open({os.environ['FAKE_LOG']!r}, 'a'); import time; time.sleep(999)"])
        time.sleep(999)
    if "KILLED" in words:
        os.kill(os.getpid(), signal.SIGKILL)
    if "CRASH" in words:
        print("\tat edu.a.B(B.java:1)\nException in thread main: oh dear\n\tat edu.a.C(C.java:2)", file=sys.stderr)
        sys.exit(1)


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


def corenlp(options):
    suffix, folder = options["-outputFormat"], options["-outputDirectory"]
    for name in Path(options["-filelist"]).read_text("utf-8").split():
        text = Path(name).read_bytes().decode("utf-8")
        sentences = [re.sub(" +", " ", line).split(" ") for line in text.split("\n") if line]
        log(sentences)
        for words in sentences:
            fail_on(words)
        if any("NOTHING" in words for words in sentences):
            continue
        with open(f"{folder}/{name}.{suffix}", "wb") as file:
            if any("GARBAGE" in words for words in sentences):
                file.write(b"\xff\x00\tnonsense\n\n{")
            elif suffix == "conllu":
                file.write("".join(map(conllu, distorted(sentences))).encode())
            else:
                parses = [{"parse": brackets(words).replace(" (S", "\n  (S")} for words in distorted(sentences)]
                file.write(json.dumps({"sentences": parses}).encode())


def conllu(words):
    rows = zip(words, heads(words), strict=True)
    if "CYCLE" in words:
        rows = zip(words, range(len(words), 0, -1), strict=True)
    lines = [
        f"{n}\t{word}\t_\t_\t{tag(word)}\t_\t{head}\t{'dep' if head else 'root'}\t_\t_\n"
        for n, (word, head) in enumerate(rows, start=1)
    ]
    return "".join(lines) + "\n"


def easyccg(options):
    text = Path(options["--inputFile"]).read_bytes().decode("utf-8")
    lines = [line for line in text.split("\n") if line and not line.startswith("#")]
    sentences = [re.sub("  +", " ", line.replace('"', "")).strip(JAVA_TRIM).split(" ") for line in lines]
    log(sentences)
    print("Loading model...\nParsing...", file=sys.stderr)
    number = 0
    for sentence in sentences:
        fail_on(sentence)
        for words in distorted([sentence]):
            number += 1
            print(f"ID={number}")
            if "GARBAGE" in words:
                sys.stdout.buffer.write(b"(<T \xff\xfe\n")
            elif "FAIL" in words or len(words) >= int(options["--maxLength"]):
                print("(<L NP NN NN fail N>)")
            else:
                print(derivation(words))
            sys.stdout.flush()
        if "SHORT" in sentence:
            return


def derivation(words):
    leaves = [f"(<L {category(w)} POS POS {ccg_escaped(w)} {category(w)}>) " for w in words]
    text = leaves[0]
    for leaf in leaves[1:]:
        text = f"(<T S[dcl] 0 2> {text}{leaf}) "
    return text


def ccg_escaped(word):
    return {"(": "-LRB-", "{": "-LRB-", ")": "-RRB-", "}": "-RRB-"}.get(word, word)


def log(sentences):
    with open(os.environ["FAKE_LOG"], "a", encoding="utf-8") as file:
        file.write(f"{os.getpid()} {os.getcwd()} {len(sentences)}\n")


def main():
    if os.environ.get("FAKE_BROKEN"):
        print("Error: Could not find or load main class\nCaused by: no such thing", file=sys.stderr)
        sys.exit(1)
    arguments = [argument for argument in sys.argv[1:] if argument.startswith("-") or not argument.startswith("edu.")]
    arguments = [argument for argument in arguments if not re.match("-(X|D)", argument)]
    options = dict(zip(arguments[::2], arguments[1::2], strict=True))
    (easyccg if "-jar" in options else corenlp)(options)


if __name__ == "__main__":
    main()
