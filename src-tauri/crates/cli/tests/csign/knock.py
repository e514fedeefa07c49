# Knocks at the local socket as a program without csign does: greets, asks, and tells what came back.
import glob, json, os, pty, signal, socket, sys, time


def knock(path, token, terminal, requests):
    """The first line, then the answer to each request; `None` where the line was cut. Says so if the socket cannot be reached at all."""
    for protocol in (2, 1):
        with socket.socket(socket.AF_UNIX) as line:
            try:
                line.connect(path)
            except OSError as problem:
                return {"unreachable": str(problem)}
            line.settimeout(60)
            reader = line.makefile("rb")

            def read():
                try:
                    text = reader.readline()
                except OSError:
                    text = b""
                return json.loads(text) if text else None

            def send(value):
                try:
                    line.sendall(json.dumps(value).encode() + b"\n")
                except OSError:
                    pass

            send({"protocol": protocol, "token": token, "terminal": terminal})
            first = read()
            if first and first.get("protocol", protocol) != protocol:
                continue
            answers = []
            for at, (command, params) in enumerate(requests):
                send({"id": at, "command": command, "params": params})
                answer = read()
                while answer is not None and answer.get("id") != at:
                    answer = read()
                answers.append(answer)
            return {"first": first, "answers": answers}


def in_child(run, fork=os.fork):
    """What `run` gives when another process runs it, through a pipe."""
    reader, writer = os.pipe()
    child = fork()
    child = child[0] if isinstance(child, tuple) else child
    if child == 0:
        try:
            told = json.dumps(run())
        except Exception as problem:
            told = json.dumps({"problem": repr(problem)})
        os.write(writer, told.encode())
        os._exit(0)
    os.close(writer)
    told = b""
    while piece := os.read(reader, 65536):
        told += piece
    os.waitpid(child, 0)
    return json.loads(told)


def at_a_terminal(run):
    """The same, with a terminal of its own as its standard input, in the foreground there."""
    return in_child(run, pty.fork)


def in_background(run):
    """The same, beside what is in the foreground of that terminal."""

    def beside():
        def aside():
            os.setpgid(0, 0)
            return run()

        return in_child(aside)

    return in_child(beside, pty.fork)
