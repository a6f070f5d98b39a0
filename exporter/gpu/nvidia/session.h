// The library between nvmlInit and nvmlShutdown. Destroying the session shuts NVML down and unloads
// the library, so that the next one is the library of an upgraded driver. Used by NvmlLibrary; an
// object that needs the library longer (an event set) holds it by shared_ptr.
#pragma once

#include <memory>
#include <string>

#include "exporter/gpu/nvidia/nvml_symbols.h"
#include "exporter/gpu/nvidia/shared_object.h"
#include "exporter/gpu/report/library.h"

namespace gpuward::exporter::nvml {

class Session {
 public:
  // kNotFound: no library, so there is no driver on this machine. kUnavailable: a library that does
  // not work, with its own message. May hang in the driver.
  [[nodiscard]] static Result<std::shared_ptr<const Session>> open(const std::string& library,
                                                                   const Progress& progress);

  explicit Session(SharedObject library);  // for open(): not initialised yet
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session();

  [[nodiscard]] const Symbols& symbols() const { return symbols_; }
  // "nvmlInit_v2: Driver/library version mismatch".
  [[nodiscard]] std::string words(const std::string& function, ReturnCode code) const;
  [[nodiscard]] const std::string& driver_version() const { return driver_version_; }
  [[nodiscard]] const std::string& library_version() const { return library_version_; }

 private:
  [[nodiscard]] Status initialise(const Progress& progress);

  SharedObject library_;
  Symbols symbols_;
  bool is_initialised_ = false;
  std::string driver_version_, library_version_;
};

}  // namespace gpuward::exporter::nvml
