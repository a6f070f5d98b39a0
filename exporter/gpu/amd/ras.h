// The errors that AMD's hardware blocks have counted, and the retired memory pages: the files of a
// GPU's ras folder. Parsing is pure. Used by read_device().
//
// The driver sums in software since it was loaded, and each read makes it fetch new counts from the
// hardware: there should be one reader a node, at a modest rate.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

#include "exporter/gpu/report/reading.h"

namespace gpuward::exporter::amd {

// Reads `ue: 0`, `ce: 3` and, on newer kernels, `de: 0`, one a line. A count is absent if its line
// is missing, if the text is `Query currently inaccessible`, or if the number is one that a faulty
// driver invents (see ras.cpp).
[[nodiscard]] RasBlock parse_error_counts(std::string_view block, std::string_view text);

// nullopt for all ones, and for a number that a faulty driver invents.
[[nodiscard]] Maybe<std::uint64_t> believable_count(std::uint64_t count);

// Returns the blocks that have an `<block>_err_count` file, by the driver's names ("umc",
// "pcie_bif", "mca_mp0"). Empty if the GPU has no RAS or the folder is not readable.
[[nodiscard]] std::vector<RasBlock> read_ras(const std::filesystem::path& device);

// Reads `0x00000001 : 0x00001000 : R`, one a line; the flag is R (retired), P (pending) or F
// (failed). nullopt if a line has any other form, because a partial count would be wrong.
[[nodiscard]] std::optional<std::uint64_t> count_bad_pages(std::string_view text);
[[nodiscard]] std::optional<std::uint64_t> read_bad_pages(const std::filesystem::path& device);

// Adds the sums over all blocks, if every block has a number: a sum without some of them would rise
// and fall with the missing blocks. DRAM is the block umc.
void add_totals(const std::vector<RasBlock>& blocks, EccCounters& ecc);

}  // namespace gpuward::exporter::amd
