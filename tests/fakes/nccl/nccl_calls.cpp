// The calls of the fake libnccl.so.2. Ranks find each other and exchange their values through files
// in the scene's folder; a query of a stream advances its operations.
#include <poll.h>
#include <unistd.h>

#include <bit>
#include <cstdio>
#include <deque>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/fakes/nccl/device_memory.h"
#include "tests/fakes/nccl/scene.h"
#include "tests/fakes/nccl/streams.h"

struct FakeComm {
  std::string id;
  int ranks = 0, rank = 0, device = 0;
  int operations = 0;
};

namespace gpuward::fake_nccl {
namespace {

constexpr int kLongestWaitMs = 120'000;

struct Operation {
  const FakeComm* comm;
  int number;
  Place receive;
  std::size_t count;
};

std::map<const FakeStream*, std::deque<Operation>>& queues() {
  static std::map<const FakeStream*, std::deque<Operation>> all;
  return all;
}

std::vector<std::unique_ptr<FakeComm>>& comms() {
  static std::vector<std::unique_ptr<FakeComm>> all;
  return all;
}

thread_local int open_groups = 0;
thread_local std::vector<FakeComm*> to_join;

std::string file_of(const FakeComm& comm, const std::string& what, int rank) {
  return comm.id + "-" + what + "-" + std::to_string(rank);
}

std::string file_of(const Operation& operation, int rank) {
  return file_of(*operation.comm, "operation" + std::to_string(operation.number), rank);
}

std::string text_of(const std::vector<Run>& runs) {
  std::ostringstream text;
  for (const Run& run : runs) text << run.begin << ' ' << run.end << ' ' << run.value << '\n';
  return text.str();
}

DeviceBuffer buffer_from(const std::string& text, std::size_t count) {
  DeviceBuffer buffer(0, count * sizeof(std::uint32_t));
  std::istringstream lines(text);
  for (Run run; lines >> run.begin >> run.end >> run.value;) buffer.set(run);
  return buffer;
}

bool is_stuck() { return scene().fault == "hang" || scene().fault == "fail"; }

// Adds up the values of all ranks, if all have left theirs.
bool finish(const Operation& operation) {
  std::vector<DeviceBuffer> given;
  for (int rank = 0; rank < operation.comm->ranks; ++rank) {
    const auto text = find(file_of(operation, rank));
    if (!text) return false;
    given.push_back(buffer_from(*text, operation.count));
  }
  // Every rank has the same ranges.
  for (const Run& run : given.front().first(operation.count)) {
    float sum = scene().fault == "wrong" && run.begin == 0 ? 1 : 0;
    for (const DeviceBuffer& buffer : given) sum += std::bit_cast<float>(buffer.at(run.begin));
    operation.receive.buffer->set({operation.receive.index + run.begin,
                                   operation.receive.index + run.end,
                                   std::bit_cast<std::uint32_t>(sum)});
  }
  return true;
}

bool is_there(const FakeComm& comm) {
  for (int rank = 0; rank < comm.ranks; ++rank) {
    if (!find(file_of(comm, "join", rank))) return false;
  }
  return true;
}

int join_all() {
  const std::vector<FakeComm*> joining = std::exchange(to_join, {});
  if (joining.empty()) return kFakeNcclSuccess;
  if (scene().fault == "fail-join") return kFakeNcclSystemError;
  if (scene().fault == "hang-join") ::poll(nullptr, 0, kLongestWaitMs);
  for (const FakeComm* comm : joining) leave(file_of(*comm, "join", comm->rank), "here");
  for (int waited = 0; waited < kLongestWaitMs; ++waited) {
    if (is_there(*joining.front())) return kFakeNcclSuccess;
    ::poll(nullptr, 0, 1);
  }
  return kFakeNcclSystemError;
}

}  // namespace

bool advance(const FakeStream* stream) {
  auto& queue = queues()[stream];
  while (!queue.empty()) {
    if (is_stuck() || !finish(queue.front())) return false;
    queue.pop_front();
  }
  return true;
}

}  // namespace gpuward::fake_nccl

using namespace gpuward::fake_nccl;  // NOLINT(google-build-using-namespace): all below is C

#define GPUWARD_FAKE extern "C" __attribute__((visibility("default")))

GPUWARD_FAKE int ncclGetVersion(int* version) {
  *version = scene().version;
  return kFakeNcclSuccess;
}

GPUWARD_FAKE const char* ncclGetErrorString(int code) {
  return code == kFakeNcclUnhandledCudaError ? "unhandled cuda error"
         : code == kFakeNcclSystemError      ? "unhandled system error"
                                             : "invalid usage";
}

GPUWARD_FAKE const char* ncclGetLastError(FakeComm* /*comm*/) {
  return scene().fault == "fail" ? "NET/IB : no answer from 10.0.0.8" : "";
}

GPUWARD_FAKE int ncclGetUniqueId(FakeNcclId* id) {
  *id = {};
  std::snprintf(id->internal, sizeof id->internal, "id-%d", static_cast<int>(::getpid()));
  return kFakeNcclSuccess;
}

GPUWARD_FAKE int ncclGroupStart() {
  ++open_groups;
  return kFakeNcclSuccess;
}

GPUWARD_FAKE int ncclGroupEnd() {
  if (open_groups == 0) return kFakeNcclInvalidUsage;
  return --open_groups == 0 ? join_all() : kFakeNcclSuccess;
}

GPUWARD_FAKE int ncclCommInitRank(FakeComm** comm, int ranks, FakeNcclId id, int rank) {
  if (rank < 0 || rank >= ranks || open_groups == 0) return kFakeNcclInvalidArgument;
  comms().push_back(std::make_unique<FakeComm>(
      FakeComm{.id = id.internal, .ranks = ranks, .rank = rank, .device = current_device()}));
  *comm = comms().back().get();
  to_join.push_back(*comm);
  return kFakeNcclSuccess;
}

GPUWARD_FAKE int ncclCommGetAsyncError(FakeComm* /*comm*/, int* error) {
  *error = scene().fault == "fail" ? kFakeNcclUnhandledCudaError : kFakeNcclSuccess;
  return kFakeNcclSuccess;
}

GPUWARD_FAKE int ncclAllReduce(const void* send, void* receive, std::size_t count, int type,
                               int operation, FakeComm* comm, FakeStream* stream) {
  const Place from = place_of(reinterpret_cast<std::uintptr_t>(send));
  const Place to = place_of(reinterpret_cast<std::uintptr_t>(receive));
  const bool is_ours = comm->device == current_device() && device_of(stream) == comm->device &&
                       from.buffer != nullptr && to.buffer != nullptr &&
                       from.buffer->device() == comm->device && to.buffer->device() == comm->device;
  if (!is_ours || open_groups == 0) return kFakeNcclInvalidUsage;
  if (type != kFakeNcclFloat32 || operation != kFakeNcclSum || count > from.buffer->values() ||
      count > to.buffer->values())
    return kFakeNcclInvalidArgument;
  const Operation next{comm, comm->operations++, to, count};
  leave(file_of(next, comm->rank), text_of(from.buffer->first(count)));
  queues()[stream].push_back(next);
  return kFakeNcclSuccess;
}
