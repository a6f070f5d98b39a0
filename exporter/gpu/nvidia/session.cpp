#include "exporter/gpu/nvidia/session.h"

#include <array>
#include <utility>

#include "exporter/gpu/nvidia/sentinel.h"

namespace gpuward::exporter::nvml {
namespace {

std::string version_from(const Function<ReturnCode(char*, U32)>& function) {
  std::array<char, kVersionBytes> buffer{};
  if (function(buffer.data(), buffer.size()) != kSuccess) return {};
  return text_from(buffer);
}

}  // namespace

Result<std::shared_ptr<const Session>> Session::open(const std::string& library,
                                                     const Progress& progress) {
  progress("loading " + library);
  auto loaded = SharedObject::open(library);
  if (!loaded) return std::unexpected(std::move(loaded.error()));
  auto session = std::make_shared<Session>(std::move(*loaded));
  if (auto status = session->initialise(progress); !status) {
    return std::unexpected(std::move(status.error()));
  }
  return session;
}

Session::Session(SharedObject library)
    : library_(std::move(library)),
      symbols_{.resolve = [this](const char* name) { return library_.find(name); }} {}

Session::~Session() {
  if (is_initialised_) symbols_.shutdown();
}

Status Session::initialise(const Progress& progress) {
  // These functions are required; the others may be missing.
  for (const char* name : {symbols_.init.name(), symbols_.count.name(), symbols_.handle.name()}) {
    if (library_.find(name) != nullptr) continue;
    return fail(ErrorKind::kUnavailable, std::string("the library has no function ") + name);
  }
  progress("initialising the library");
  const ReturnCode code = symbols_.init();
  if (code != kSuccess) {
    return fail(ErrorKind::kUnavailable, words(symbols_.init.name(), code));
  }
  is_initialised_ = true;
  driver_version_ = version_from(symbols_.driver_version);
  library_version_ = version_from(symbols_.nvml_version);
  return {};
}

std::string Session::words(const std::string& function, ReturnCode code) const {
  const char* const text = symbols_.error_string(code);
  const std::string said = text == nullptr ? "NVML error " + std::to_string(code) : text;
  return function + ": " + said;
}

}  // namespace gpuward::exporter::nvml
