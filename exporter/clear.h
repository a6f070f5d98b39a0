// `gpuward-exporter clear`: asks the exporter of this state folder to forget findings that have
// been repaired, without touching a counter, and says what came of it. Called by main().
#pragma once

#include <filesystem>
#include <iosfwd>

#include "core/runtime/clock.h"
#include "exporter/store/clear_request.h"

namespace gpuward::exporter {

// 0: taken. 1: no such finding, or the request could not be left. 3: no exporter has taken it in
// five seconds; the next start will.
[[nodiscard]] int run_clear(const std::filesystem::path& state_folder, const ClearRequest& request,
                            Clock& clock, std::ostream& out);

}  // namespace gpuward::exporter
