// A GPU library that cannot be loaded: it ends the process that loads it.
#include <cstdlib>

namespace {

[[gnu::constructor]] void crash() { std::abort(); }

}  // namespace
