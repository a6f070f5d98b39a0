#include "core/runtime/gzip.h"

#include <gtest/gtest.h>
#include <zlib.h>

namespace gpuward {
namespace {

std::string unpack(const std::string& packed) {
  z_stream stream{};
  inflateInit2(&stream, 15 + 16);
  std::string plain(1U << 20U, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = reinterpret_cast<Bytef*>(plain.data());
  stream.avail_out = static_cast<uInt>(plain.size());
  const int outcome = inflate(&stream, Z_FINISH);
  plain.resize(outcome == Z_STREAM_END ? stream.total_out : 0);
  inflateEnd(&stream);
  return plain;
}

TEST(Gzip, GivesBackWhatWasPacked) {
  std::string plain;
  for (int i = 0; i < 1000; ++i)
    plain += "gpuward_xid_errors_total{gpu=\"" + std::to_string(i) + "\"} 0\n";

  const std::string packed = gzip(plain);

  EXPECT_LT(packed.size(), plain.size() / 4);
  EXPECT_EQ(unpack(packed), plain);
}

struct Header {
  const char* value;
  bool accepts;
};

class AcceptEncoding : public testing::TestWithParam<Header> {};

TEST_P(AcceptEncoding, IsReadWithItsWeights) {
  EXPECT_EQ(accepts_gzip(GetParam().value), GetParam().accepts) << GetParam().value;
}

INSTANTIATE_TEST_SUITE_P(
    Values, AcceptEncoding,
    testing::Values(Header{"", false}, Header{"gzip", true}, Header{"GZip", true},
                    Header{"deflate, gzip;q=1.0, *;q=0.5", true}, Header{"gzip;q=0", false},
                    Header{"gzip; q=0.000", false}, Header{"gzip;q=0.001", true},
                    Header{"identity", false}, Header{"*", true}, Header{"*;q=0", false},
                    Header{"gzip;q=0, *", false}, Header{"*;q=0, gzip", true},
                    Header{"gzipped", false}, Header{"x-gzip", true}, Header{",,;;,", false},
                    Header{"br;q=1.0,gzip;Q=0", false}));

}  // namespace
}  // namespace gpuward
