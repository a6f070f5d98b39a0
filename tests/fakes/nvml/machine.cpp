#include "tests/fakes/nvml/machine.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <utility>

#include "tests/fakes/nvml/event_sets.h"

namespace gpuward::fake_nvml {
namespace {

struct FileStamp {
  dev_t device = 0;
  ino_t inode = 0;
  off_t size = -1;
  timespec changed{};

  bool operator==(const FileStamp& other) const {
    return device == other.device && inode == other.inode && size == other.size &&
           changed.tv_sec == other.changed.tv_sec && changed.tv_nsec == other.changed.tv_nsec;
  }
};

struct Machine {
  std::mutex mutex;
  Scenario scenario;
  FileStamp stamp;
  int initialised = 0;
  int device = -1;                        // the file that imitates the GPUs' device nodes
  std::optional<std::string> generation;  // when the library was loaded
  std::array<FakeDevice, kMaxGpus> gpus;
  std::array<std::array<FakeDevice, kMaxMig>, kMaxGpus> mig;
};

Machine& machine() {
  static Machine the_machine;
  return the_machine;
}

FileStamp stamp_of(const char* path) {
  struct stat facts{};
  if (::stat(path, &facts) != 0) return {};
  return {facts.st_dev, facts.st_ino, facts.st_size, facts.st_mtim};
}

// With the mutex held.
void read_again_where_changed(Machine& m) {
  const char* const path = std::getenv("GPUWARD_FAKE_NVML");
  if (path == nullptr) return;
  const FileStamp stamp = stamp_of(path);
  if (stamp == m.stamp) return;
  m.stamp = stamp;
  m.scenario = Scenario();
  m.scenario.load(path);
}

std::string fault_of(const std::string& function, int gpu) {
  Machine& m = machine();
  const std::lock_guard lock(m.mutex);
  read_again_where_changed(m);
  const std::string generation = m.scenario.of("generation").text;
  if (m.generation.value_or(generation) != generation) return "18";
  m.generation = generation;
  const std::string index = gpu == kNoGpu ? "-" : std::to_string(gpu);
  for (const std::string& key :
       {"fault." + function + "." + index, "fault." + function + ".*", "fault.*." + index}) {
    if (const std::string* fault = m.scenario.find(key)) return *fault;
  }
  return {};
}

void wait_ms(int time) { ::poll(nullptr, 0, time); }

int suffer(const std::string& function, int gpu) {
  std::string fault = fault_of(function, gpu);
  while (fault == "hang") {
    wait_ms(20);
    fault = fault_of(function, gpu);
  }
  if (fault.empty()) return kFakeSuccess;
  if (fault == "crash") std::abort();
  if (fault.starts_with("delay ")) {
    wait_ms(std::atoi(fault.c_str() + 6));
    return kFakeSuccess;
  }
  return std::atoi(fault.c_str());
}

bool may_be_called_before_init(const std::string& function) { return function == "nvmlInit_v2"; }

}  // namespace

void log_line(const std::string& line) {
  const char* const path = std::getenv("GPUWARD_FAKE_NVML_LOG");
  if (path == nullptr) return;
  const int file = ::open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
  if (file < 0) return;
  const std::string text = line + "\n";
  if (::write(file, text.data(), text.size()) < 0) std::perror("fake nvml: log");
  ::close(file);
}

int enter(const char* function, int gpu) {
  log_line(std::string(function) + " " + (gpu == kNoGpu ? "-" : std::to_string(gpu)));
  if (const int error = suffer(function, gpu)) return error;
  const std::lock_guard lock(machine().mutex);
  const bool ready = machine().initialised > 0 || may_be_called_before_init(function);
  return ready ? kFakeSuccess : kFakeUninitialized;
}

int enter(const char* function, const FakeDevice* device) {
  if (device == nullptr) return kFakeInvalidArgument;
  return enter(function, device->gpu);
}

FakeDevice* handle_of(int gpu) {
  FakeDevice& device = machine().gpus.at(static_cast<std::size_t>(gpu));
  device.gpu = gpu;
  return &device;
}

FakeDevice* mig_handle_of(int gpu, int mig) {
  FakeDevice& device =
      machine().mig.at(static_cast<std::size_t>(gpu)).at(static_cast<std::size_t>(mig));
  device = {gpu, mig};
  return &device;
}

Value value_of(const std::string& key) {
  const std::lock_guard lock(machine().mutex);
  return machine().scenario.of(key);
}

Value value_of(const FakeDevice* device, const std::string& key) {
  const std::lock_guard lock(machine().mutex);
  const std::string full = device->mig < 0 ? key : "mig." + std::to_string(device->mig) + "." + key;
  return machine().scenario.of_gpu(device->gpu, full);
}

Value value_of(const FakeDevice* device, const std::string& key, const std::string& otherwise) {
  Value value = value_of(device, key);
  return value.is_set ? value : value_of(device, otherwise);
}

Value value_of_link(const FakeDevice* device, unsigned link, const std::string& key) {
  return value_of(device, "nvlink." + std::to_string(link) + "." + key, "nvlink.*." + key);
}

int number_of(const FakeDevice* device, const std::string& key, long long* number) {
  return number_in(value_of(device, key), number);
}

int number_in(const Value& value, long long* number) {
  if (value.error != kFakeSuccess) return value.error;
  const auto parsed = to_number(value.text);
  if (!parsed) return kFakeNotSupported;
  *number = *parsed;
  return kFakeSuccess;
}

int initialise() {
  const Value device = value_of("device");
  const std::lock_guard lock(machine().mutex);
  if (machine().initialised++ == 0 && device.error == kFakeSuccess)
    machine().device = ::open(device.text.c_str(), O_RDONLY | O_CLOEXEC);
  return kFakeSuccess;
}

int shut_down() {
  const std::lock_guard lock(machine().mutex);
  if (machine().initialised > 0) --machine().initialised;
  if (machine().initialised == 0 && machine().device >= 0)
    ::close(std::exchange(machine().device, -1));
  if (machine().initialised == 0 && live_event_sets() > 0) {
    log_line("leak event sets " + std::to_string(live_event_sets()));
  }
  return kFakeSuccess;
}

int copy_text(const Value& value, char* out, unsigned length) {
  if (value.error != kFakeSuccess) return value.error;
  if (out == nullptr) return kFakeInvalidArgument;
  if (value.text.size() + 1 > length) return kFakeInsufficientSize;
  std::memcpy(out, value.text.c_str(), value.text.size() + 1);
  return kFakeSuccess;
}

int answer_text(const char* function, const FakeDevice* device, const std::string& key, char* out,
                unsigned length) {
  if (const int error = enter(function, device)) return error;
  return copy_text(value_of(device, key), out, length);
}

}  // namespace gpuward::fake_nvml
