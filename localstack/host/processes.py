"""Functions as processes of this machine, where LocalStack would start a container for each."""

import json
import os
import queue
import subprocess
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from localstack import config
from localstack.services.lambda_.invocation import runtime_executor
from localstack.services.lambda_.invocation.lambda_models import InvocationResult

# The kernel kills a process that was started so when the thread that started it ends, and so when the host ends, SIGKILL
# included. That thread must therefore live as long as the host does: the ones that LocalStack calls us on do not.
DIE_WITH_HOST = ["setpriv", "--pdeathsig", "KILL"]
STARTER = ThreadPoolExecutor(1)

START_SECONDS = 10  # "the Init phase is limited to 10 seconds" ("Lambda execution environment lifecycle")
POLL_SECONDS = 0.05


class RuntimeApi(BaseHTTPRequestHandler):
    """The runtime API of one process ("Using the Lambda runtime API for custom runtimes", AWS Lambda Developer Guide)."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):  # /runtime/invocation/next
        process = self.server.process
        process.ready.set()
        call = process.calls.get()
        if call is None:  # the process is no more
            self.close_connection = True
            return
        self.reply(200, call["payload"].encode(), {
            "Lambda-Runtime-Aws-Request-Id": call["invoke-id"],
            "Lambda-Runtime-Invoked-Function-Arn": call["invoked-function-arn"],
            "Lambda-Runtime-Deadline-Ms": int((time.time() + process.timeout) * 1000),
            "Lambda-Runtime-Trace-Id": call.get("trace-id") or "",
        })

    def do_POST(self):  # /runtime/invocation/ID/response, /runtime/invocation/ID/error or /runtime/init/error
        body = self.body()
        *_, request_id, verb = self.path.split("/")
        waiting = self.server.process.waiting.pop(request_id, None)
        if waiting:
            waiting.put((body, verb == "error", ""))
        self.reply(202, b"{}")

    def body(self):
        if "chunked" not in self.headers.get("Transfer-Encoding", ""):
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        parts = []
        while size := int(self.rfile.readline(), 16):
            parts.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(parts)

    def reply(self, status, body, headers=()):
        self.send_response(status)
        for name, value in dict(headers).items():
            self.send_header(name, str(value))
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Process:
    """One bootstrap process, and the runtime API that it asks for its invocations."""

    def __init__(self, task, env, timeout, log):
        self.timeout = timeout
        self.ready = threading.Event()  # it waits for an invocation
        self.calls, self.waiting = queue.Queue(), {}
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), RuntimeApi)
        self.server.daemon_threads = True
        self.server.process = self
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        env = env | {"AWS_LAMBDA_RUNTIME_API": f"127.0.0.1:{self.server.server_address[1]}"}
        self.popen = STARTER.submit(subprocess.Popen, [*DIE_WITH_HOST, f"{task}/bootstrap"], cwd=task, env=env,
                                    stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT).result()

    def alive(self):
        return self.popen.poll() is None

    def waits(self):
        """Whether it asks for its next invocation, now or before long."""
        end = time.monotonic() + START_SECONDS
        while self.alive() and time.monotonic() < end:
            if self.ready.wait(POLL_SECONDS):
                return self.alive()
        return False

    def call(self, payload):
        """The body of its answer, whether that is an error, and what Lambda adds to the log."""
        self.ready.clear()
        answer = self.waiting[payload["invoke-id"]] = queue.Queue()
        end = time.monotonic() + self.timeout
        self.calls.put(payload)
        while True:
            try:
                return answer.get(timeout=POLL_SECONDS)
            except queue.Empty:
                if not self.alive():
                    return failure("Runtime.ExitError", "the process exited"), True, ""
                if time.monotonic() > end:
                    self.end()
                    note = f"Task timed out after {self.timeout:.2f} seconds"
                    return failure("Sandbox.Timedout", note), True, note + "\n"

    def end(self):
        self.popen.kill()
        self.popen.wait()
        self.calls.put(None)
        self.server.shutdown()
        self.server.server_close()


def failure(kind, message):
    return json.dumps({"errorType": kind, "errorMessage": message}).encode()


class ProcessExecutor(runtime_executor.RuntimeExecutor):
    """One execution environment: one process at a time. One that died makes room for a new one, as on AWS."""

    more_env = {}  # of every function

    def __init__(self, id, function_version):
        super().__init__(id, function_version)
        self.process = None
        self.busy = threading.Lock()
        # A file, and no pipe: whatever a process wrote before it answered is in there when it has answered.
        self.log, self.logged = tempfile.TemporaryFile(), 0

    def start(self, env_vars):
        self.task = str(self.function_version.config.code.get_unzipped_code_location())
        os.chmod(f"{self.task}/bootstrap", 0o755)
        tmp = tempfile.gettempdir()
        self.env = {name: str(value) for name, value in env_vars.items()} | {
            "PATH": os.environ["PATH"], "HOME": tmp, "TMPDIR": tmp, "LAMBDA_TASK_ROOT": self.task,
        } | self.more_env
        self.spawn()

    def spawn(self):
        if self.process:
            self.process.end()
        self.process = Process(self.task, self.env, self.function_version.config.timeout, self.log)
        if not self.process.waits():
            self.process.end()
            raise runtime_executor.LambdaRuntimeException("bootstrap did not start: " + self.new_logs()[-2000:])

    def invoke(self, payload):
        with self.busy:
            if not self.process.waits():  # it died in the invocation before, or since, or hangs behind its answer
                self.spawn()
            body, failed, note = self.process.call(payload)
            return InvocationResult(payload["invoke-id"], body, is_error=failed, logs=self.new_logs() + note)

    def stop(self):
        """New code has come, or the function goes. An invocation that runs may finish, as on AWS."""
        with self.busy:
            if self.process:
                self.process.end()
            self.log.close()

    def new_logs(self):
        start, self.logged = self.logged, os.fstat(self.log.fileno()).st_size
        return os.pread(self.log.fileno(), self.logged - start, start).decode(errors="replace")

    def get_logs(self):
        return os.pread(self.log.fileno(), self.logged, 0).decode(errors="replace")

    def get_address(self):
        return "127.0.0.1"

    get_endpoint_from_executor = get_address

    def get_runtime_endpoint(self):
        return f"http://127.0.0.1:{config.GATEWAY_LISTEN[0].port}"

    @classmethod
    def prepare_version(cls, function_version):
        function_version.config.code.prepare_for_execution()

    @classmethod
    def cleanup_version(cls, function_version):
        pass
