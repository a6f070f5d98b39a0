#include "exporter/nccl_pair/nccl_all_reduce.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "exporter/nccl_pair/cuda_abi.h"
#include "exporter/nccl_pair/nccl_abi.h"

namespace gpuward::exporter::nccl_pair {
namespace {

// A buffer is filled in this many parts, each with a different number for each rank: small whole
// numbers, whose sums a float represents exactly.
constexpr std::size_t kParts = 16;
constexpr unsigned kPartStep = 32;
// The number of floats read back from each part.
constexpr std::size_t kWindow = 4096;
// The memory that NCCL may use on a GPU.
constexpr std::uint64_t kKeptForNccl = std::uint64_t{2} << 30U;
// The pause between two queries of a stream: short compared with the measured milliseconds, and
// long enough to leave the cores to NCCL.
constexpr std::chrono::microseconds kBetweenQueries{30};

float sent_by(unsigned rank, std::size_t part) {
  return static_cast<float>(rank + 1 + kPartStep * static_cast<unsigned>(part));
}

float sum_over(unsigned ranks, std::size_t part) {
  const unsigned of_ranks = ranks * (ranks + 1) / 2;
  return static_cast<float>(of_ranks + kPartStep * static_cast<unsigned>(part) * ranks);
}

struct PartOfBuffer {
  std::size_t begin = 0, count = 0;  // floats
  // The start of the window: the first one is at the part's begin, the last one at its end.
  [[nodiscard]] std::size_t window(std::size_t part) const {
    return begin + (count - kWindow) * part / (kParts - 1);
  }
};

PartOfBuffer part_of(std::uint64_t bytes, std::size_t part) {
  const std::size_t floats = bytes / sizeof(float);
  const std::size_t begin = floats * part / kParts;
  return {begin, floats * (part + 1) / kParts - begin};
}

struct HeldGpu {
  cuda::Context context = nullptr;
  cuda::Stream stream = nullptr;
  cuda::Address send = 0, receive = 0;
  nccl::Communicator communicator = nullptr;
  unsigned rank = 0;
};

template <typename Pointer>
Pointer pointer_to(cuda::Address address) {
  return std::bit_cast<Pointer>(static_cast<std::uintptr_t>(address));
}

class NcclAllReduce final : public AllReduce {
 public:
  NcclAllReduce(nvml::SharedObject nccl_library, nvml::SharedObject cuda_library, Clock& clock)
      : clock_(clock),
        nccl_library_(std::move(nccl_library)),
        cuda_library_(std::move(cuda_library)) {}

  Status open(unsigned wanted) {
    if (const std::string& name = lookup_cuda_.first_missing(); !name.empty())
      return fail(ErrorKind::kUnavailable, "CUDA's driver library has no function " + name);
    if (const std::string& name = lookup_nccl_.first_missing(); !name.empty())
      return fail(ErrorKind::kUnavailable, "the NCCL library has no function " + name);
    if (auto status = said(nccl_.version, nccl_.version(&version_)); !status) return status;
    if (auto status = said(cuda_.init, cuda_.init(0)); !status) return status;
    int count = 0;
    if (auto status = said(cuda_.count, cuda_.count(&count)); !status) return status;
    if (count < 1) return fail(ErrorKind::kNotFound, "CUDA finds no GPU here");
    if (std::cmp_greater(wanted, count)) {
      return fail(ErrorKind::kInvalid, std::to_string(wanted) +
                                           " GPUs are requested, but CUDA finds " +
                                           std::to_string(count) + " here");
    }
    gpus_.resize(wanted == 0 ? static_cast<unsigned>(count) : wanted);
    for (std::size_t i = 0; i < gpus_.size(); ++i) {
      if (auto status = take(gpus_[i], static_cast<int>(i)); !status) return status;
    }
    return {};
  }

  [[nodiscard]] unsigned gpus() const override { return static_cast<unsigned>(gpus_.size()); }
  [[nodiscard]] int nccl_version() const override { return version_; }
  [[nodiscard]] std::uint64_t most_bytes() const override { return most_bytes_; }

  Result<UniqueId> make_id() override {
    nccl::Id id{};
    if (auto status = said(nccl_.make_id, nccl_.make_id(&id)); !status)
      return std::unexpected(status.error());
    return std::bit_cast<UniqueId>(id);
  }

  Status join(const UniqueId& id, unsigned ranks, unsigned first_rank,
              std::uint64_t bytes) override {
    ranks_ = ranks;
    for (std::size_t i = 0; i < gpus_.size(); ++i) {
      gpus_[i].rank = first_rank + static_cast<unsigned>(i);
      if (auto status = allocate(gpus_[i], bytes); !status) return status;
    }
    return for_all(nccl_.join, [&](HeldGpu& gpu) {
      return nccl_.join(&gpu.communicator, static_cast<int>(ranks), std::bit_cast<nccl::Id>(id),
                        static_cast<int>(gpu.rank));
    });
  }

  Status fill(std::uint64_t bytes) override {
    for (const HeldGpu& gpu : gpus_) {
      if (auto status = enter(gpu); !status) return status;
      const unsigned spoilt = std::bit_cast<unsigned>(std::numeric_limits<float>::quiet_NaN());
      if (auto status = set(gpu.receive, spoilt, bytes / sizeof(float)); !status) return status;
      for (std::size_t part = 0; part < kParts; ++part) {
        const PartOfBuffer place = part_of(bytes, part);
        const unsigned value = std::bit_cast<unsigned>(sent_by(gpu.rank, part));
        if (auto status = set(gpu.send + place.begin * sizeof(float), value, place.count); !status)
          return status;
      }
    }
    return {};
  }

  Status run(std::uint64_t bytes, unsigned times, const GivesUp& gives_up) override {
    for (unsigned i = 0; i < times; ++i) {
      auto status = for_all(nccl_.all_reduce, [&](HeldGpu& gpu) {
        return nccl_.all_reduce(pointer_to<const void*>(gpu.send), pointer_to<void*>(gpu.receive),
                                bytes / sizeof(float), nccl::kFloat, nccl::kSum, gpu.communicator,
                                gpu.stream);
      });
      if (!status) return status;
    }
    for (const HeldGpu& gpu : gpus_) {
      if (auto status = wait_for(gpu, gives_up); !status) return status;
    }
    return {};
  }

  Result<std::uint64_t> wrong_values(std::uint64_t bytes) override {
    std::uint64_t wrong = 0;
    std::vector<float> window(kWindow);
    for (const HeldGpu& gpu : gpus_) {
      if (auto status = enter(gpu); !status) return std::unexpected(status.error());
      for (std::size_t part = 0; part < kParts; ++part) {
        const cuda::Address from = gpu.receive + part_of(bytes, part).window(part) * sizeof(float);
        const auto code = cuda_.copy_out(window.data(), from, window.size() * sizeof(float));
        if (auto status = said(cuda_.copy_out, code); !status)
          return std::unexpected(status.error());
        const auto right = std::ranges::count(window, sum_over(ranks_, part));
        wrong += kWindow - static_cast<std::uint64_t>(right);
      }
    }
    return wrong;
  }

 private:
  // "cuInit: no CUDA-capable device is detected".
  template <typename Call>
  [[nodiscard]] Status said(const Call& call, int code) const {
    if (code == 0) return {};
    const bool is_nccl = std::strncmp(call.name(), "nccl", 4) == 0;
    const std::string words = is_nccl ? nccl_words(code) : cuda_words(code);
    return fail(ErrorKind::kUnavailable, std::string(call.name()) + ": " + words);
  }

  [[nodiscard]] std::string cuda_words(int code) const {
    const char* words = nullptr;
    const bool has_words = cuda_.error_string(code, &words) == cuda::kSuccess && words != nullptr;
    return has_words ? words : "error " + std::to_string(code);
  }

  // NCCL's last warning says more than the name of the code: the network and the other end.
  [[nodiscard]] std::string nccl_words(int code) const {
    const char* const words = nccl_.error_string(code);
    const char* const last = nccl_.last_error(nullptr);
    std::string said = words == nullptr ? "error " + std::to_string(code) : words;
    if (last != nullptr && *last != '\0') said += std::string(": ").append(last);
    return said;
  }

  Status enter(const HeldGpu& gpu) {
    return said(cuda_.set_current, cuda_.set_current(gpu.context));
  }

  Status set(cuda::Address address, unsigned value, std::size_t count) {
    return said(cuda_.set, cuda_.set(address, value, count));
  }

  Status take(HeldGpu& gpu, int ordinal) {
    cuda::Device device = 0;
    if (auto status = said(cuda_.device, cuda_.device(&device, ordinal)); !status) return status;
    if (auto status = said(cuda_.retain, cuda_.retain(&gpu.context, device)); !status)
      return status;
    if (auto status = enter(gpu); !status) return status;
    const auto made = cuda_.make_stream(&gpu.stream, cuda::kBlockingStream);
    if (auto status = said(cuda_.make_stream, made); !status) return status;
    std::size_t free = 0, total = 0;
    if (auto status = said(cuda_.memory, cuda_.memory(&free, &total)); !status) return status;
    most_bytes_ = std::min(most_bytes_, free > kKeptForNccl ? (free - kKeptForNccl) / 2 : 0);
    return {};
  }

  Status allocate(HeldGpu& gpu, std::uint64_t bytes) {
    if (auto status = enter(gpu); !status) return status;
    if (auto status = said(cuda_.allocate, cuda_.allocate(&gpu.send, bytes)); !status)
      return status;
    return said(cuda_.allocate, cuda_.allocate(&gpu.receive, bytes));
  }

  // Makes the call for each GPU as one group, because one thread cannot wait for the ranks in turn.
  template <typename Call, typename Action>
  Status for_all(const Call& call, const Action& action) {
    if (auto status = said(nccl_.begin_group, nccl_.begin_group()); !status) return status;
    Status first;
    for (HeldGpu& gpu : gpus_) {
      first = enter(gpu);
      if (first) first = said(call, action(gpu));
      if (!first) break;
    }
    const auto ended = nccl_.end_group();
    return first ? said(nccl_.end_group, ended) : first;
  }

  // NCCL's kernels do not end by themselves after a network failure: only a query shows it.
  Status wait_for(const HeldGpu& gpu, const GivesUp& gives_up) {
    if (auto status = enter(gpu); !status) return status;
    for (;;) {
      const auto code = cuda_.query_stream(gpu.stream);
      if (code != cuda::kNotReady) return said(cuda_.query_stream, code);
      if (auto status = look_for_errors(); !status) return status;
      if (gives_up()) return fail(ErrorKind::kCancelled, "stopped while all_reduce was running");
      clock_.sleep_until(clock_.steady() + kBetweenQueries, {});
    }
  }

  Status look_for_errors() {
    for (const HeldGpu& gpu : gpus_) {
      nccl::ReturnCode code = nccl::kSuccess;
      const auto asked = nccl_.async_error(gpu.communicator, &code);
      if (auto status = said(nccl_.async_error, asked); !status) return status;
      if (code == nccl::kInProgress) continue;
      if (auto status = said(nccl_.all_reduce, code); !status) return status;
    }
    return {};
  }

  Clock& clock_;
  const nvml::SharedObject nccl_library_, cuda_library_;
  Lookup lookup_nccl_{nccl_library_}, lookup_cuda_{cuda_library_};
  const nccl::Symbols nccl_{lookup_nccl_};
  const cuda::Symbols cuda_{lookup_cuda_};
  int version_ = 0;
  unsigned ranks_ = 0;
  std::uint64_t most_bytes_ = std::numeric_limits<std::uint64_t>::max();
  std::vector<HeldGpu> gpus_;
};

}  // namespace

Result<std::unique_ptr<AllReduce>> open_nccl(const NcclPlaces& places, Clock& clock) {
  auto cuda_library = nvml::SharedObject::open(places.cuda_library);
  if (!cuda_library) return with_context("CUDA's driver library", cuda_library.error());
  auto nccl_library = nvml::SharedObject::open(places.nccl_library);
  if (!nccl_library) return with_context("the NCCL library", nccl_library.error());
  auto opened =
      std::make_unique<NcclAllReduce>(*std::move(nccl_library), *std::move(cuda_library), clock);
  if (auto status = opened->open(places.gpus); !status) return std::unexpected(status.error());
  return opened;
}

}  // namespace gpuward::exporter::nccl_pair
