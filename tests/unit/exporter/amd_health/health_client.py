"""A client of AMD's health service that knows nothing of gpuward.

    health_client.py SOCKET PACKAGE list | get ID... | set ID [FIELD=COUNT...]

Prints a line for each GPU (id, device, health, uuid, workloads), or what was set; or
`error CODE MESSAGE` and exits with 1. Needs protoc, python3-grpcio and python3-protobuf.
"""

import importlib
import pathlib
import subprocess
import sys
import tempfile

import grpc
from google.protobuf import empty_pb2

TIMEOUT = 60  # seconds, far more than a busy machine takes


def messages(package):
    source = pathlib.Path(__file__).with_name("device_plugin_view.proto").read_text()
    name = f"{package}_view"
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / f"{name}.proto").write_text(
            source.replace("package PACKAGE", f"package {package}"))
        subprocess.run(["protoc", f"--proto_path={folder}", f"--python_out={folder}",
                        f"{name}.proto"], check=True, timeout=TIMEOUT)
        sys.path.insert(0, folder)
        return importlib.import_module(f"{name}_pb2")


def main():
    socket, package, verb, *words = sys.argv[1:]
    view = messages(package)
    requests = {"list": ("List", lambda: empty_pb2.Empty(), view.Gpus),
                "get": ("GetGPUState", lambda: view.Ids(id=words), view.Gpus),
                "set": ("SetError", lambda: view.Pretence(
                    id=words[0], fields=[word.split("=")[0] for word in words[1:]],
                    counts=[int(word.split("=")[1]) for word in words[1:] if "=" in word]),
                        view.Pretended)}
    method, request, answer = requests[verb]
    with grpc.insecure_channel(f"unix:{socket}") as channel:
        call = channel.unary_unary(f"/{package}.MetricsService/{method}",
                                   request_serializer=lambda message: message.SerializeToString(),
                                   response_deserializer=answer.FromString)
        try:
            said = call(request(), timeout=TIMEOUT, wait_for_ready=True)
        except grpc.RpcError as error:
            print("error", error.code().name, error.details())
            return 1
    if verb == "set":
        print(said.id, *said.fields)
    else:
        for gpu in said.gpu:
            print(gpu.id, gpu.device, gpu.health, gpu.uuid or "-", *gpu.workloads)
    return 0


sys.exit(main())
