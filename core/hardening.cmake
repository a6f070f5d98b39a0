# Compiler hardening of every shipped program and of its civetweb (tests/neighbours). tests/packaging/hardening_test
# checks it in the programs.
add_compile_options(-fstack-protector-strong -fstack-clash-protection)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
  add_compile_options(-fcf-protection=full)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
  add_compile_options(-mbranch-protection=standard)
endif()
# Both need an optimising build: each but Debug and one without a name. The sanitizers, in Debug, check more than they do.
set(GPUWARD_OPTIMISES "$<NOT:$<OR:$<CONFIG:Debug>,$<STREQUAL:$<CONFIG>,>>>")
add_compile_options("$<${GPUWARD_OPTIMISES}:-U_FORTIFY_SOURCE;-D_FORTIFY_SOURCE=3>"
  "$<$<AND:$<COMPILE_LANGUAGE:CXX>,${GPUWARD_OPTIMISES}>:-D_GLIBCXX_ASSERTIONS>")
add_link_options("$<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:-pie>" -Wl,-z,relro -Wl,-z,now)
