#include "core/runtime/memory.h"

#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bit>
#include <cstdint>

namespace gpuward {
namespace {

// Never writable segments: the loader's relocations in them are in no file.
bool is_as_in_file(const ElfW(Phdr) & header) {
  return header.p_type == PT_LOAD && (header.p_flags & PF_W) == 0;
}

int give_back(dl_phdr_info* object, std::size_t, void*) {
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = object->dlpi_phdr[i];
    if (!is_as_in_file(header)) continue;
    const std::uintptr_t begin = (object->dlpi_addr + header.p_vaddr) / page * page;
    const std::uintptr_t end = object->dlpi_addr + header.p_vaddr + header.p_memsz;
    // Best effort: a kernel that refuses keeps the pages.
    ::madvise(std::bit_cast<void*>(begin), end - begin, MADV_DONTNEED);
  }
  return 0;
}

}  // namespace

void give_back_code_pages() { ::dl_iterate_phdr(give_back, nullptr); }

}  // namespace gpuward
