// Returns memory that only the start of a program needed to the system. For the programs that run
// on every node, called by their main().
#pragma once

namespace gpuward {

// Releases the pages of the program and its libraries that can be read from their files again;
// pages still in use come back one by one. Any thread; costs those page faults.
void give_back_code_pages();

}  // namespace gpuward
