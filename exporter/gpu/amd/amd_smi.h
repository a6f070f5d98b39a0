// libamd_smi, if it is installed: read only for values that sysfs lacks. ROCm is optional. Used by
// SysfsLibrary on the worker's main thread; a call may hang or crash in the library, which is why
// the worker is a separate process.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/model/pci_address.h"
#include "core/model/result.h"
#include "exporter/gpu/report/reading.h"

namespace gpuward::exporter::amd {

class AmdSmi {
 public:
  // Opens and initialises it. kNotFound: there is no such library; kInvalid: its generation has an
  // unknown interface, and only its version was read; kUnavailable: it cannot be loaded, lacks a
  // function, or reports an error.
  [[nodiscard]] static Result<std::unique_ptr<AmdSmi>> open(const std::string& name);

  AmdSmi(const AmdSmi&) = delete;
  AmdSmi& operator=(const AmdSmi&) = delete;
  ~AmdSmi();

  [[nodiscard]] const std::string& version() const { return version_; }  // "26.0.2"
  // Whether it had this GPU when it was opened.
  [[nodiscard]] bool has(const PciAddress& gpu) const { return handles_.contains(gpu); }
  // Returns the counts of the blocks that it supports; empty if it lacks the GPU or counts none.
  [[nodiscard]] std::vector<RasBlock> error_counts(const PciAddress& gpu) const;
  [[nodiscard]] std::string uuid(const PciAddress& gpu) const;  // empty if it has none
  // Absent if there is no record, or if the library lacks the function or may not read the records.
  [[nodiscard]] Maybe<CperRecord> latest_cper(const PciAddress& gpu) const;

 private:
  struct Functions;
  explicit AmdSmi(std::unique_ptr<Functions> functions);
  void find_gpus();

  std::unique_ptr<Functions> functions_;
  std::string version_;
  std::map<PciAddress, void*> handles_;
};

}  // namespace gpuward::exporter::amd
