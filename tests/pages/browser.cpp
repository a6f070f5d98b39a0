#include "tests/pages/browser.h"

#include <gtest/gtest.h>

#include "tests/support/process.h"
#include "tests/support/require.h"
#include "tests/support/temp_dir.h"

namespace gpuward::pages {

std::string why_no_browser() { return support::why_no_program("chromium"); }

std::string dom_after(const std::string& url, std::chrono::seconds time,
                      const std::vector<std::string>& more_flags) {
  const support::TempDir folder;
  std::vector<std::string> words = {
      support::find_program("chromium"),
      "--headless",
      "--no-sandbox",  // the tests may run as root, and read pages of their own alone
      "--disable-gpu",
      "--disable-dev-shm-usage",
      "--no-first-run",
      "--user-data-dir=" + folder.path().string(),
      "--virtual-time-budget=" + std::to_string(std::chrono::milliseconds(time).count()),
      "--dump-dom"};
  words.insert(words.end(), more_flags.begin(), more_flags.end());
  words.push_back(url);
  const auto run = support::Process::run({.argv = std::move(words)});
  if (!run) {
    ADD_FAILURE() << run.error().message;
    return {};
  }
  EXPECT_EQ(run->exit_code, 0) << run->error_output;
  return run->output;
}

}  // namespace gpuward::pages
