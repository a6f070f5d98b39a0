// The two programs that tell more about EFA than sysfs does, where they are installed: libfabric's
// fi_info and GDRCopy's own test. Used by check 2.
#pragma once

#include <string>

#include "exporter/checks/check/check.h"
#include "exporter/checks/check/finding_list.h"

namespace gpuward::exporter {

// What could not be asked, for people; empty where all was.
[[nodiscard]] std::string judge_provider(const CheckContext& context, FindingList& found);
[[nodiscard]] std::string judge_gdrcopy(const CheckContext& context, FindingList& found);

}  // namespace gpuward::exporter
