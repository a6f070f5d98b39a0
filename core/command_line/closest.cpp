#include "core/command_line/closest.h"

#include <algorithm>
#include <cstddef>

namespace gpuward {
namespace {

constexpr std::size_t kLettersToBegin = 3;

// The number of letters to insert, delete, change, or swap with the next one.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> rows(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        rows[i][j] = i + j;
        continue;
      }
      const std::size_t changed = a[i - 1] == b[j - 1] ? 0 : 1;
      rows[i][j] = std::min({rows[i - 1][j] + 1, rows[i][j - 1] + 1, rows[i - 1][j - 1] + changed});
      const bool is_swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (is_swapped) rows[i][j] = std::min(rows[i][j], rows[i - 2][j - 2] + 1);
    }
  }
  return rows[a.size()][b.size()];
}

}  // namespace

std::string closest(std::string_view word, const std::vector<std::string>& known) {
  std::string best;
  std::size_t least = std::max<std::size_t>(1, word.size() / 3) + 1;
  for (const std::string& one : known) {
    const bool is_begun = word.size() >= kLettersToBegin && one.starts_with(word);
    const std::size_t away = is_begun ? 0 : distance(word, one);
    if (away >= least) continue;
    best = one;
    least = away;
  }
  return best;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& known) {
  const std::string meant = closest(word, known);
  return meant.empty() ? "" : ": did you mean \"" + meant + "\"?";
}

}  // namespace gpuward
