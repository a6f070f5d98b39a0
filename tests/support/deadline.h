// The one deadline of tests. Used by whatever waits in tests/support, and by every test that waits
// for something whose time is not its subject.
#pragma once

#include <chrono>

namespace gpuward::support {

// For what happens as soon as the machine gets to it. A busy machine and a sanitizer take many
// times as long as an idle one, and a test that passes never waits so long; one that fails still
// says what did not happen before ctest ends it. A test gives its own limit only if that time is
// what the test is about.
inline constexpr std::chrono::seconds kGenerous{240};

// For one request of the several that fit into that.
inline constexpr std::chrono::seconds kGenerousRequest{60};

}  // namespace gpuward::support
