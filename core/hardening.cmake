# The hardening of every program that is shipped, and of the civetweb in it (tests/neighbours). tests/packaging/hardening_test
# reads it in the programs; docs/performance.md has its costs.
add_compile_options(-fstack-protector-strong -fstack-clash-protection)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
  add_compile_options(-fcf-protection=full)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
  add_compile_options(-mbranch-protection=standard)
endif()
# Both need an optimising compiler; the sanitizers check more than they do.
add_compile_options("$<$<CONFIG:RelWithDebInfo,Release>:-U_FORTIFY_SOURCE;-D_FORTIFY_SOURCE=3>"
  "$<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CONFIG:RelWithDebInfo,Release>>:-D_GLIBCXX_ASSERTIONS>")
add_link_options("$<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:-pie>" -Wl,-z,relro -Wl,-z,now)
