"""The kubelet's pod-resources service on a unix socket, with grpcio and protoc, so that it shares no code with the
client under test. Prints `ready` once it serves; runs until it is killed.

    pod_resources_server.py SOCKET ANSWER

ANSWER: a ListPodResourcesResponse as JSON, `status:CODE:MESSAGE` for an error, `hang` for no answer, or `raw:HEX` for
those bytes as the message; `@FILE`: the contents of that file. With `encode` as SOCKET it prints the encoded answer in
hexadecimal and does not serve.
"""

import importlib
import pathlib
import subprocess
import sys
import tempfile
import threading
from concurrent import futures

import grpc
from google.protobuf import json_format

HERE = pathlib.Path(__file__).parent


def load_messages():
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(
            ["protoc", f"--proto_path={HERE}", f"--python_out={folder}", "pod_resources.proto"],
            check=True,
        )
        sys.path.insert(0, folder)
        return importlib.import_module("pod_resources_pb2")


def make_answer(messages, text):
    def answer(_request, context):
        if text.startswith("status:"):
            _, code, message = text.split(":", 2)
            context.abort(getattr(grpc.StatusCode, code), message)
        if text == "hang":
            threading.Event().wait()
        if text.startswith("raw:"):
            return bytes.fromhex(text[4:])
        return encode(messages, text)

    return answer


def encode(messages, text):
    return json_format.Parse(text, messages.ListPodResourcesResponse()).SerializeToString()


def serve(messages, socket, text):
    server = grpc.server(futures.ThreadPoolExecutor(max_workers=4))
    method = grpc.unary_unary_rpc_method_handler(
        make_answer(messages, text),
        request_deserializer=messages.ListPodResourcesRequest.FromString,
    )
    server.add_generic_rpc_handlers(
        [grpc.method_handlers_generic_handler("v1.PodResourcesLister", {"List": method})]
    )
    if server.add_insecure_port(f"unix:{socket}") == 0:
        sys.exit(f"cannot listen on {socket}")
    server.start()
    print("ready", flush=True)
    server.wait_for_termination()


def main():
    messages = load_messages()
    socket, answer = sys.argv[1:]
    if answer.startswith("@"):
        answer = pathlib.Path(answer[1:]).read_text()
    if socket == "encode":
        print(encode(messages, answer).hex())
    else:
        serve(messages, socket, answer)


main()
