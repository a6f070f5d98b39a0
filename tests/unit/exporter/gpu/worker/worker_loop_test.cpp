#include "exporter/gpu/worker/worker_loop.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <future>
#include <utility>

#include "core/runtime/clock.h"
#include "exporter/gpu/worker/message_lines.h"
#include "exporter/gpu/worker/protocol.h"
#include "tests/support/wait.h"

namespace gpuward::exporter {
namespace {

using namespace std::chrono_literals;

class FakeLibrary : public GpuLibrary {
 public:
  FakeLibrary(Vendor vendor, LibraryState state) : vendor_(vendor), state_(state) {}
  [[nodiscard]] VendorReading read(const Progress& progress) override {
    progress("0000:4e:00 ecc");
    VendorReading report;
    report.vendor = vendor_;
    report.state = state_;
    report.gpus.emplace_back().gpu.uuid = "GPU-" + std::to_string(++readings_);
    return report;
  }
  [[nodiscard]] std::vector<GpuXid> wait_for_xids(std::chrono::milliseconds limit) override {
    if (vendor_ == Vendor::kNvidia && !std::exchange(has_told_, true)) {
      GpuXid xid;
      xid.code = 79;
      return {xid};
    }
    SystemClock().sleep_for(std::min(limit, 10ms), {});
    return {};
  }

 private:
  Vendor vendor_;
  LibraryState state_;
  int readings_ = 0;
  bool has_told_ = false;
};

template <Vendor kVendor, LibraryState kState>
std::unique_ptr<GpuLibrary> make(const LibraryPaths& /*paths*/) {
  return std::make_unique<FakeLibrary>(kVendor, kState);
}

constexpr std::array<LibraryEntry, 2> kBoth{
    {{"nvidia", make<Vendor::kNvidia, LibraryState::kReady>},
     {"amd", make<Vendor::kAmd, LibraryState::kUnusable>}}};
constexpr std::array<LibraryEntry, 2> kAbsent{
    {{"nvidia", make<Vendor::kNvidia, LibraryState::kAbsent>},
     {"amd", make<Vendor::kAmd, LibraryState::kAbsent>}}};

class WorkerLoop : public testing::Test {
 protected:
  void start(std::span<const LibraryEntry> libraries) {
    ASSERT_EQ(::pipe(requests.data()), 0);
    ASSERT_EQ(::pipe(answers.data()), 0);
    exit_code = std::async(std::launch::async, [this, libraries] {
      return GpuWorker(libraries, {}, requests[0], answers[1]).run();
    });
  }
  void request(std::string_view text) {
    ASSERT_EQ(::write(requests[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  // Reads until a report comes, and records the messages before it.
  std::optional<GpuReport> next_report() {
    std::optional<GpuReport> report;
    while (!report) {
      pollfd entry{answers[0], POLLIN, 0};
      if (::poll(&entry, 1, 10'000) != 1) return std::nullopt;
      std::array<char, 4096> bytes{};
      const ssize_t got = ::read(answers[0], bytes.data(), bytes.size());
      if (got <= 0) return std::nullopt;
      lines.feed({bytes.data(), static_cast<std::size_t>(got)}, [&](std::string_view line) {
        auto message = decode_message(line);
        ASSERT_TRUE(message.has_value()) << line;
        if (message->progress) progress.push_back(*message->progress);
        if (message->xid) xids.push_back(*message->xid);
        if (message->report) report = std::move(message->report);
      });
    }
    return report;
  }
  int end() {
    ::close(requests[1]);
    const int code = exit_code.get();
    for (const int descriptor : {requests[0], answers[0], answers[1]}) ::close(descriptor);
    return code;
  }

  std::array<int, 2> requests{};
  std::array<int, 2> answers{};
  std::future<int> exit_code;
  MessageLines lines{kMostMessageBytes};
  std::vector<std::string> progress;
  std::vector<GpuXid> xids;
};

TEST_F(WorkerLoop, AnswersEachRequestWithAllVendorsThatAreNotAbsent) {
  start(kBoth);
  request("read\n");
  const auto first = next_report();
  request("read\n");
  const auto second = next_report();

  ASSERT_TRUE(first && second);
  ASSERT_EQ(first->vendors.size(), 2U);
  EXPECT_EQ(first->vendors[1].vendor, Vendor::kAmd);
  EXPECT_EQ(second->vendors[0].gpus[0].gpu.uuid, "GPU-2");
  EXPECT_EQ(progress.at(0), "0000:4e:00 ecc");
  EXPECT_EQ(end(), 0);
}

TEST_F(WorkerLoop, ReportsNoVendorIfNoLibraryIs) {
  start(kAbsent);
  request("read\n");

  const auto report = next_report();

  ASSERT_TRUE(report.has_value());
  EXPECT_TRUE(report->vendors.empty());
  EXPECT_EQ(end(), 0);
}

TEST_F(WorkerLoop, SendsXidsWithoutBeingAsked) {
  start(kBoth);
  EXPECT_TRUE(support::poll_until([&] {
    request("read\n");
    EXPECT_TRUE(next_report().has_value());
    return !xids.empty();
  }));
  ASSERT_EQ(xids.size(), 1U);
  EXPECT_EQ(xids[0].code, 79U);
  EXPECT_EQ(end(), 0);
}

TEST_F(WorkerLoop, EndsWhenItsPipeIsClosed) {
  start(kBoth);

  EXPECT_EQ(end(), 0);
}

TEST_F(WorkerLoop, EndsWithTwoIfItIsAskedSomethingElse) {
  for (const std::string& wrong :
       {std::string("rea\n"), std::string("\n"), std::string("reading\n"), std::string(100, 'x')}) {
    start(kBoth);
    request(wrong);
    EXPECT_EQ(exit_code.get(), 2) << wrong;
    for (const int descriptor : {requests[0], requests[1], answers[0], answers[1]}) {
      ::close(descriptor);
    }
  }
}

}  // namespace
}  // namespace gpuward::exporter
