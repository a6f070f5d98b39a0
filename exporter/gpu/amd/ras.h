// Errors that AMD's hardware blocks have counted, and the memory pages that were given up: the
// files of a GPU's ras folder. Parsing is pure. Used by read_device().
//
// The driver sums in software from when it was loaded, and reading makes it fetch what is new from
// the hardware: one reader a node, at a modest rate.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

#include "exporter/gpu/report/reading.h"

namespace gpuward::exporter::amd {

// `ue: 0`, `ce: 3` and, on newer kernels, `de: 0`, a line each. What is absent: a line that is not
// there; any count where the text says `Query currently inaccessible`; a number that a faulty
// driver makes up (see ras.cpp).
[[nodiscard]] RasBlock parse_error_counts(std::string_view block, std::string_view text);

// nullopt for all ones, and for what a faulty driver makes up.
[[nodiscard]] Maybe<std::uint64_t> believable_count(std::uint64_t count);

// The blocks that have an `<block>_err_count` file, by name as the driver has them ("umc",
// "pcie_bif", "mca_mp0"). Empty where the GPU has no RAS or the folder may not be read.
[[nodiscard]] std::vector<RasBlock> read_ras(const std::filesystem::path& device);

// `0x00000001 : 0x00001000 : R` a line; the flag is R (given up), P (waits for it) or F (could not
// be). nullopt where a line is anything else: what is half understood is not counted.
[[nodiscard]] std::optional<std::uint64_t> count_bad_pages(std::string_view text);
[[nodiscard]] std::optional<std::uint64_t> read_bad_pages(const std::filesystem::path& device);

// Sums over all blocks, where every block says a number: a sum without some of them would fall and
// rise with who answers. DRAM is the block umc.
void add_totals(const std::vector<RasBlock>& blocks, EccCounters& ecc);

}  // namespace gpuward::exporter::amd
