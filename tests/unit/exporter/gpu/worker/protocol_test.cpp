#include "exporter/gpu/worker/protocol.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "core/runtime/text.h"
#include "tests/unit/exporter/gpu/worker/filled.h"

namespace gpuward::exporter {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string line_of(const WorkerMessage& message) {
  std::string line = encode_message(message);
  EXPECT_TRUE(line.ends_with("\n"));
  EXPECT_EQ(line.find('\n'), line.size() - 1) << "one line a message";
  line.pop_back();
  return line;
}

WorkerMessage report_of(GpuReport report) { return {.report = std::move(report)}; }

// Encodes the message and decodes it again. Fails the test if it cannot be decoded.
WorkerMessage over_the_pipe(const WorkerMessage& message) {
  auto decoded = decode_message(line_of(message));
  EXPECT_TRUE(decoded.has_value()) << decoded.error().message;
  return decoded.value_or(WorkerMessage{});
}

TEST(Protocol, CarriesEachFieldOfAReport) {
  const WorkerMessage sent = report_of(filled<GpuReport>());

  EXPECT_EQ(told(over_the_pipe(sent)), told(sent));
  EXPECT_THAT(told(sent), HasSubstr("recovery_action="));
  EXPECT_THAT(told(sent), Not(HasSubstr("=absent\ndriver"))) << "the filler leaves nothing out";
}

TEST(Protocol, CarriesAReportWithoutAnyValueAsAbsentValues) {
  GpuReport report;
  report.vendors.emplace_back().gpus.emplace_back();
  const WorkerMessage sent = report_of(report);

  const WorkerMessage got = over_the_pipe(sent);

  EXPECT_EQ(told(got), told(sent));
  EXPECT_FALSE(got.report->vendors[0].gpus[0].processes.has_value());
}

TEST(Protocol, CarriesXidsAndProgress) {
  const WorkerMessage xid{.xid = filled<GpuXid>()};
  const WorkerMessage progress{.progress = "0000:4e:00 temperature"};

  EXPECT_EQ(told(over_the_pipe(xid)), told(xid));
  EXPECT_EQ(over_the_pipe(progress).progress, "0000:4e:00 temperature");
}

TEST(Protocol, CarriesTheLargestAndTheSmallestNumbers) {
  GpuReport report;
  GpuReading& gpu = report.vendors.emplace_back().gpus.emplace_back();
  gpu.ecc.corrected_volatile.total = std::numeric_limits<std::uint64_t>::max();
  gpu.minor_number = std::numeric_limits<std::uint32_t>::max();
  gpu.gpu.index = std::numeric_limits<int>::min();
  gpu.power.energy_joules = 1e300;
  gpu.processes.emplace().emplace_back().pid = std::numeric_limits<std::int64_t>::min();

  EXPECT_EQ(told(over_the_pipe(report_of(report))), told(report_of(report)));
}

TEST(Protocol, LeavesOutWhatIsNoNumber) {
  GpuReport report;
  GpuReading& gpu = report.vendors.emplace_back().gpus.emplace_back();
  gpu.thermals.gpu = std::numeric_limits<double>::quiet_NaN();
  gpu.power.usage_watts = std::numeric_limits<double>::infinity();

  const WorkerMessage got = over_the_pipe(report_of(report));

  EXPECT_FALSE(got.report->vendors[0].gpus[0].thermals.gpu.has_value());
  EXPECT_FALSE(got.report->vendors[0].gpus[0].power.usage_watts.has_value());
}

TEST(Protocol, CutsTextsAndMakesThemValid) {
  GpuReport report;
  report.vendors.emplace_back().fault = std::string(10'000, 'x') + "\n";
  report.vendors.emplace_back().fault = "driver\xff says\nso";

  const WorkerMessage got = over_the_pipe(report_of(report));

  EXPECT_EQ(got.report->vendors[0].fault.size(), kMostTextBytes);
  EXPECT_TRUE(is_valid_utf8(got.report->vendors[1].fault));
}

TEST(Protocol, CutsListsAtTheirLimit) {
  GpuReport report;
  GpuReading& gpu = report.vendors.emplace_back().gpus.emplace_back();
  gpu.processes.emplace(kMostListItems + 1);

  const WorkerMessage got = over_the_pipe(report_of(report));

  EXPECT_EQ(got.report->vendors[0].gpus[0].processes->size(), kMostListItems);
}

TEST(Protocol, LeavesDetailsOutOfAReportThatIsTooLarge) {
  GpuReport report;
  report.vendors.emplace_back().peers.resize(64);
  report.vendors[0].gpus.resize(64);
  for (GpuReading& gpu : report.vendors[0].gpus) {
    gpu.gpu.name = "NVIDIA H200";
    gpu.processes.emplace(kMostListItems);
  }

  const WorkerMessage got = over_the_pipe(report_of(report));

  ASSERT_EQ(got.report->vendors[0].gpus.size(), 64U);
  EXPECT_FALSE(got.report->vendors[0].gpus[63].processes.has_value()) << "not known, never none";
  EXPECT_EQ(got.report->vendors[0].gpus[63].gpu.name, "NVIDIA H200");
}

TEST(Protocol, FitsSixtyFourGpusWithLinksAndPeersIntoAMessage) {
  GpuReport report;
  VendorReading& vendor = report.vendors.emplace_back();
  for (int i = 0; i < 64; ++i) {
    GpuReading reading = filled<GpuReading>();
    reading.links.resize(18, filled<Link>());
    reading.processes.emplace(16, filled<GpuProcess>());
    vendor.gpus.push_back(std::move(reading));
  }
  vendor.peers.resize(64U * 63U, filled<PeerStatus>());

  const std::string line = line_of(report_of(report));

  EXPECT_THAT(line, HasSubstr("\"processes\""));
  EXPECT_TRUE(decode_message(line).has_value());
}

// ---- Messages that no healthy worker would send

class Nonsense : public testing::TestWithParam<const char*> {};

TEST_P(Nonsense, IsRefusedAndNeverCrashes) {
  const auto decoded = decode_message(GetParam());

  ASSERT_FALSE(decoded.has_value());
  EXPECT_FALSE(decoded.error().message.empty());
}

INSTANTIATE_TEST_SUITE_P(
    Lines, Nonsense,
    testing::Values("", "\0", "garbage", "{}", "[]", "null", "7", "{\"report\"", "{\"report\":{}}",
                    "{\"report\":null}", "{\"report\":{\"vendors\":{}}}",
                    "{\"report\":{\"vendors\":[7]}}", "{\"report\":{\"vendors\":[{}]}}",
                    "{\"report\":{\"vendors\":[]},\"more\":1}", "{\"progress\":7}",
                    "{\"progress\":null}", "{\"progress\":\"a\",\"progress\":\"b\"}",
                    "{\"progress\":\"a\",\"report\":{\"vendors\":[]}}", "{\"progress\":\"\xff\"}",
                    "{\"xid\":{\"code\":79,\"pci_bus_id\":\"\",\"seen\":-1}}",
                    "{\"xid\":{\"code\":79,\"pci_bus_id\":\"\",\"seen\":9000000000001}}",
                    "{\"xid\":{\"code\":79,\"pci_bus_id\":\"\",\"seen\":1.5}}",
                    "{\"xid\":{\"code\":4294967296,\"pci_bus_id\":\"\",\"seen\":1}}",
                    "{\"xid\":{\"code\":-1,\"pci_bus_id\":\"\",\"seen\":1}}",
                    "{\"xid\":{\"code\":99999999999999999999,\"pci_bus_id\":\"\",\"seen\":1}}",
                    "{\"xid\":{\"code\":\"79\",\"pci_bus_id\":\"\",\"seen\":1}}",
                    "{\"xid\":{\"code\":79,\"seen\":1}}",
                    "{\"progress\":\"a\"} {\"progress\":\"b\"}"));

TEST(Protocol, RefusesEachFieldOfAnotherTypeAndNamesIt) {
  const std::string line = line_of(report_of(filled<GpuReport>()));
  const auto replaced = [&](const std::string& from, const std::string& to) {
    std::string changed = line;
    const auto at = changed.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    changed.replace(at, from.size(), to);
    const auto decoded = decode_message(changed);
    return decoded ? std::string("taken") : decoded.error().message;
  };

  EXPECT_THAT(replaced("\"is_lost\":true", "\"is_lost\":1"), HasSubstr("is_lost"));
  EXPECT_THAT(replaced("\"state\":2,\"vendor\"", "\"state\":3,\"vendor\""), HasSubstr("state"));
  EXPECT_THAT(replaced("\"vendor\":1", "\"vendor\":-1"), HasSubstr("vendor"));
  EXPECT_THAT(replaced("\"pci\":\"", "\"pci\":\"x"), HasSubstr("pci"));
  EXPECT_THAT(replaced("\"driver_version\":\"", "\"driver_versions\":\""),
              HasSubstr("driver_version"));
}

TEST(Protocol, RefusesEachTruncationOfAMessage) {
  const std::string line = line_of({.xid = filled<GpuXid>()});

  for (std::size_t length = 0; length < line.size(); ++length) {
    EXPECT_FALSE(decode_message(line.substr(0, length)).has_value()) << length;
  }
}

TEST(Protocol, RefusesWhatIsTooLargeTooDeepOrTooMuch) {
  EXPECT_EQ(decode_message(std::string(kMostMessageBytes + 1, ' ')).error().kind,
            ErrorKind::kTooLarge);
  EXPECT_FALSE(decode_message(std::string(100'000, '[')).has_value());
  EXPECT_FALSE(decode_message("{\"progress\":\"" + std::string(kMostTextBytes + 1, 'x') + "\"}")
                   .has_value());
  std::string many = "{\"report\":{\"vendors\":[";
  for (int i = 0; i < 400'000; ++i) many += "1,";
  EXPECT_FALSE(decode_message(many + "1]}}").has_value());
}

}  // namespace
}  // namespace gpuward::exporter
