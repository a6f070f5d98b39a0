#include "exporter/pods/kubelet.h"

#include <utility>

#include "core/http/client/client.h"
#include "exporter/pods/grpc_call.h"
#include "exporter/pods/pod_resources.h"

namespace gpuward::exporter {

Kubelet::Kubelet(std::filesystem::path socket, std::chrono::milliseconds timeout)
    : socket_(std::move(socket)), timeout_(timeout) {}

Result<Workloads> Kubelet::list(const std::stop_token& stop) {
  const std::string attempted = "asking the kubelet at " + socket_.string() + " for its pods";
  std::error_code ignored;
  if (!std::filesystem::exists(socket_, ignored)) {
    return with_context(
        attempted,
        {ErrorKind::kNotFound,
         "the socket does not exist; mount the node's folder with the socket into the pod",
         {}});
  }
  http::CurlClient client;  // a new connection each time: the kubelet may have restarted
  const auto answer = call_grpc(client,
                                {.socket = socket_.string(),
                                 .method = "/v1.PodResourcesLister/List",
                                 .message = "",
                                 .timeout = timeout_},
                                stop);
  if (!answer) return with_context(attempted, answer.error());
  auto workloads = parse_pod_resources(*answer);
  if (!workloads) return with_context(attempted, workloads.error());
  return workloads;
}

}  // namespace gpuward::exporter
