// Resident memory that only a program's start has needed, given back. For the programs that run on
// every node. Called by their main().
#pragma once

namespace gpuward {

// Lets go of the pages of program and libraries that can be read from their files again: what is
// still used comes back by itself, page by page. Any thread; costs what those page faults cost.
void give_back_code_pages();

}  // namespace gpuward
