#include "exporter/evidence/archive.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>

#include "core/runtime/gzip.h"

namespace gpuward::exporter {
namespace {

constexpr std::size_t kBlock = 512;

// The fields of pax(1), "ustar Interchange Format".
struct Field {
  std::size_t offset, size;
};
constexpr Field kName{0, 100}, kMode{100, 8}, kUid{108, 8}, kGid{116, 8}, kSize{124, 12},
    kTime{136, 12}, kSum{148, 8}, kType{156, 1}, kMagic{257, 8}, kPrefix{345, 155};

class Header {
 public:
  void text(Field field, std::string_view value) {
    value.copy(bytes_.data() + field.offset, field.size);
  }
  void octal(Field field, std::uint64_t value) {
    for (std::size_t i = field.size - 1; i-- > 0; value /= 8)
      bytes_[field.offset + i] = static_cast<char>('0' + value % 8);
  }
  // Adds the checksum of the header, for which the checksum field counts as blanks.
  std::string_view sealed() {
    text(kSum, "        ");
    std::uint64_t sum = 0;
    for (const char byte : bytes_) sum += static_cast<unsigned char>(byte);
    octal(kSum, sum);
    return {bytes_.data(), bytes_.size()};
  }

 private:
  std::array<char, kBlock> bytes_{};
};

void append(std::string& tar, std::string_view folder, const EvidenceFile& file, Clock::Wall now) {
  Header header;
  header.text(kPrefix, folder);
  header.text(kName, file.name);
  header.octal(kMode, 0600);
  header.octal(kUid, 0);
  header.octal(kGid, 0);
  header.octal(kSize, file.content.size());
  header.octal(kTime, static_cast<std::uint64_t>(std::chrono::system_clock::to_time_t(now)));
  header.text(kType, "0");
  header.text(kMagic, std::string_view("ustar\0"
                                       "00",
                                       8));
  tar += header.sealed();
  tar += file.content;
  tar.append((kBlock - file.content.size() % kBlock) % kBlock, '\0');
}

}  // namespace

Result<std::string> pack(std::string_view folder, const std::vector<EvidenceFile>& files,
                         Clock::Wall now) {
  std::string tar;
  for (const EvidenceFile& file : files) append(tar, folder, file, now);
  tar.append(2 * kBlock, '\0');
  std::string packed = gzip(tar);
  if (packed.empty())
    return fail(ErrorKind::kTooLarge, "not enough memory to compress the evidence");
  return packed;
}

}  // namespace gpuward::exporter
