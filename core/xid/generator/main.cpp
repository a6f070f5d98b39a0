// Compiles the data files of the catalogue into one C++ file: `xid_generator DATA_FOLDER OUTPUT`.
// Run by the build; ends with 1 and every fault as file:line where a data file is not sound.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "core/xid/generator/table.h"

namespace {

using gpuward::xid_generator::Errors;

std::string read_file(const std::filesystem::path& path, Errors& errors) {
  const std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  if (!in) errors.push_back(path.string() + ": cannot be read");
  return text.str();
}

std::string generate_all(const std::filesystem::path& folder, Errors& errors) {
  std::string cpp =
      "// Made from core/xid/data by xid_generator: change the data, not this file.\n"
      "#include \"core/xid/tables.h\"\n\nnamespace gpuward::xid {\n\n";
  for (const auto& table : gpuward::xid_generator::all_tables()) {
    const auto path = folder / table.file;
    const auto csv =
        gpuward::xid_generator::read_csv(path.string(), read_file(path, errors), errors);
    cpp += gpuward::xid_generator::generate(table, csv, errors) + "\n";
  }
  return cpp + "}  // namespace gpuward::xid\n";
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs("usage: xid_generator DATA_FOLDER OUTPUT\n", stderr);
    return 2;
  }
  Errors errors;
  const auto cpp = generate_all(argv[1], errors);
  for (const auto& error : errors) std::fprintf(stderr, "%s\n", error.c_str());
  if (!errors.empty()) return 1;
  std::ofstream out(argv[2], std::ios::binary);
  out << cpp;
  out.close();
  if (!out) {
    std::fprintf(stderr, "%s: cannot be written\n", argv[2]);
    return 1;
  }
  return 0;
}
