// The table in docs/install.md with the folder of NVIDIA's driver on each platform, and the chart's
// values for it. The tests that imitate these platforms try each row.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <ostream>
#include <string>
#include <vector>

#include "tests/places.inc"

namespace gpuward::support {

struct DriverPlace {
  std::string platform;
  std::string folder;       // of libnvidia-ml.so.1 on the node
  std::string driver_root;  // the value of the chart
  std::string dev_path;     // likewise

  friend std::ostream& operator<<(std::ostream& out, const DriverPlace& place) {
    return out << place.platform;
  }
};

// The content of cells such as "`/usr`" and " Ubuntu ".
inline std::string cell_text(const std::string& cell) {
  const auto begin = cell.find_first_not_of(" `");
  return begin == std::string::npos ? ""
                                    : cell.substr(begin, cell.find_last_not_of(" `") + 1 - begin);
}

inline std::vector<DriverPlace> driver_places() {
  std::ifstream file(GPUWARD_SOURCE_DIR "/docs/install.md");
  std::string line;
  while (std::getline(file, line) && !line.starts_with("| platform | folder of the library")) {
  }
  std::getline(file, line);  // the rule below the head
  std::vector<DriverPlace> places;
  while (std::getline(file, line) && line.starts_with("| ")) {
    std::vector<std::string> cells;
    for (std::size_t at = 1; at < line.size();) {
      const auto end = line.find('|', at);
      cells.push_back(cell_text(line.substr(at, end - at)));
      at = end == std::string::npos ? end : end + 1;
    }
    if (cells.size() < 4) {
      ADD_FAILURE() << "no row of the table: " << line;
      continue;
    }
    places.push_back({cells[0], cells[1], cells[2], cells[3]});
  }
  EXPECT_GE(places.size(), 10U) << "docs/install.md has no table of platforms";
  return places;
}

}  // namespace gpuward::support
