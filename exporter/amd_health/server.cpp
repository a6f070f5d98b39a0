#include "exporter/amd_health/server.h"

#include <google/protobuf/empty.pb.h>
#include <gpumetricssvc.grpc.pb.h>
#include <grpc/support/time.h>
#include <grpcpp/grpcpp.h>
#include <metricssvc.grpc.pb.h>
#include <sys/stat.h>

#include <string>
#include <utility>
#include <vector>

#include "exporter/amd_health/socket_place.h"

namespace gpuward::exporter::amd_health {
namespace {

// A request is a list of ids or fields; those of all GPUs of a node fit into this.
constexpr int kMostRequestBytes = 64 * 1024;

// AMD's service returns every error without a code, which gRPC calls UNKNOWN.
grpc::Status refuse(const std::string& message) { return {grpc::StatusCode::UNKNOWN, message}; }

template <typename Response>
grpc::Status answer(const Result<std::vector<GpuState>>& states, Response& response) {
  if (!states) return refuse(states.error().message);
  for (const GpuState& state : *states) {
    auto& gpu = *response.add_gpustate();
    gpu.set_id(state.id);
    gpu.set_uuid(state.uuid);
    gpu.set_health(state.health);
    gpu.set_device(state.device);
    for (const std::string& workload : state.workloads) gpu.add_associatedworkload(workload);
  }
  return grpc::Status::OK;
}

template <typename Request>
Result<Counts> counts_of(const Request& request) {
  if (request.fields_size() != request.counts_size() || request.fields_size() == 0) {
    return fail(ErrorKind::kInvalid, "invalid request, a count is needed for each field");
  }
  Counts counts;
  for (int i = 0; i < request.fields_size(); ++i) counts[request.fields(i)] = request.counts(i);
  return counts;
}

// The service under one of its two names: the types of both differ only in their package.
template <typename Generated, typename GetRequest, typename StateResponse, typename ErrorRequest,
          typename ErrorResponse>
class HealthService final : public Generated::Service {
 public:
  HealthService(HealthBook& book, Injection injection) : book_(book), injection_(injection) {}

  grpc::Status List(grpc::ServerContext* /*context*/, const google::protobuf::Empty* /*request*/,
                    StateResponse* response) override {
    return answer(book_.list(), *response);
  }

  grpc::Status GetGPUState(grpc::ServerContext* /*context*/, const GetRequest* request,
                           StateResponse* response) override {
    return answer(book_.find({request->id().begin(), request->id().end()}), *response);
  }

  grpc::Status SetError(grpc::ServerContext* /*context*/, const ErrorRequest* request,
                        ErrorResponse* response) override {
    if (injection_ == Injection::kRefused) {
      return refuse("invalid function error: needs --debug.allow-injection");
    }
    const auto counts = counts_of(*request);
    if (!counts) return refuse(counts.error().message);
    if (auto done = book_.pretend(request->id(), *counts); !done) {
      return refuse(done.error().message);
    }
    response->set_id(request->id());
    *response->mutable_fields() = request->fields();
    return grpc::Status::OK;
  }

 private:
  HealthBook& book_;
  Injection injection_;
};

using Spoken = HealthService<metricssvc::MetricsService, metricssvc::GPUGetRequest,
                             metricssvc::GPUStateResponse, metricssvc::GPUErrorRequest,
                             metricssvc::GPUErrorResponse>;
using Defined = HealthService<gpumetricssvc::MetricsService, gpumetricssvc::GPUGetRequest,
                              gpumetricssvc::GPUStateResponse, gpumetricssvc::GPUErrorRequest,
                              gpumetricssvc::GPUErrorResponse>;

class GrpcServer final : public Server {
 public:
  GrpcServer(HealthBook& book, Injection injection)
      : spoken_(book, injection), defined_(book, injection) {}

  ~GrpcServer() override {
    // Does not wait for requests in progress.
    if (server_) server_->Shutdown(gpr_inf_past(GPR_CLOCK_REALTIME));
  }

  bool listen(const std::filesystem::path& socket) {
    grpc::ServerBuilder builder;
    builder.SetMaxReceiveMessageSize(kMostRequestBytes);
    int port = 0;
    builder.AddListeningPort("unix:" + socket.string(), grpc::InsecureServerCredentials(), &port);
    builder.RegisterService(&spoken_);
    builder.RegisterService(&defined_);
    // From the start, only the owner may connect.
    const mode_t before = ::umask(0177);
    server_ = builder.BuildAndStart();
    ::umask(before);
    return server_ != nullptr;
  }

 private:
  Spoken spoken_;
  Defined defined_;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace

Result<std::unique_ptr<Server>> Server::start(const std::filesystem::path& socket, HealthBook& book,
                                              Injection injection) {
  if (auto ready = prepare_socket_place(socket); !ready) return std::unexpected(ready.error());
  auto server = std::make_unique<GrpcServer>(book, injection);
  if (!server->listen(socket) || ::chmod(socket.c_str(), 0600) != 0) {
    return fail(ErrorKind::kUnavailable, "cannot listen on " + socket.string());
  }
  return std::unique_ptr<Server>(std::move(server));
}

}  // namespace gpuward::exporter::amd_health
