// gpuward-page-scene NAME: serves the pages of a made-up fleet (empty, quiet, busy, broken) on a
// loopback port, which it prints, until its standard input ends. For `./dev images`.
#include <iostream>
#include <string>

#include "tests/pages/scene.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: gpuward-page-scene empty|quiet|busy|broken\n";
    return 2;
  }
  const gpuward::pages::Scene scene(gpuward::pages::scene_size(argv[1]));
  std::cout << scene.url() << std::endl;  // the reader waits for it
  for (std::string line; std::getline(std::cin, line);) {
  }
  return 0;
}
