// The one deadline of tests. Used by all that waits in tests/support, and by every test that waits
// for something whose time is not its subject.
#pragma once

#include <chrono>

namespace gpuward::support {

// How long a test waits before it fails. A busy machine and a sanitizer take many times as long as
// an idle machine, and a test that passes never waits this long. ctest ends a program after 20
// minutes, so that up to four failed waits are reported. A test sets its own limit only if the time
// is what it tests.
inline constexpr std::chrono::seconds kGenerous{240};

// The time-out of a single request. Several of them fit into kGenerous.
inline constexpr std::chrono::seconds kGenerousRequest{60};

}  // namespace gpuward::support
