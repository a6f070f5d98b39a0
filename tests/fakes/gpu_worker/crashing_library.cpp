// A GPU library that is broken beyond loading: it ends the process that loads it.
#include <cstdlib>

namespace {

[[gnu::constructor]] void crash() { std::abort(); }

}  // namespace
