#include "text/quantity.h"

#include <limits>

#include "catch.h"

namespace whyoom {
namespace TEST_FILE {

constexpr std::int64_t kK = 1024;
constexpr std::int64_t kM = kK * 1024;
constexpr std::int64_t kG = kM * 1024;
constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();

TEST_CASE("sizes are parsed as logs print them", "[text]") {
  CHECK(ParseSize("0B") == 0);
  CHECK(ParseSize("204B") == 204);
  CHECK(ParseSize("1.9K") == 1946);
  CHECK(ParseSize("52.5K") == 53760);
  CHECK(ParseSize("6.43M") == 6742344);
  CHECK(ParseSize("29.49G") == 31664646390);
  CHECK(ParseSize("16.00G") == 16 * kG);
  CHECK(ParseSize("3.84T") == 4222124650660);
  CHECK(ParseSize("3.47E") == 4000637620985759007);
  CHECK(ParseSize("2P") == std::int64_t{2} << 50);
  CHECK(ParseSize("30.64GiB") == 32899449487);
  CHECK(ParseSize("15.22 GiB") == 16342350561);
  CHECK(ParseSize("8 MiB") == 8 * kM);
  CHECK(ParseSize("2GB") == 2 * kG);
  CHECK(ParseSize("3996120 kB") == 3996120 * kK);
  CHECK(ParseSize("512Mi") == 512 * kM);
  CHECK(ParseSize("256. MiB") == 256 * kM);
  CHECK(ParseSize("4096 bytes") == 4096);
  CHECK(ParseSize("1 byte") == 1);
  CHECK(ParseSize("17179869184") == 17179869184);
  CHECK(ParseSize("554,696,704") == 554696704);
  CHECK(ParseSize("1,024.5K") == 1049088);
  CHECK(ParseSize("-2.55G") == -2738041651);
  CHECK(ParseSize("-0B") == 0);
  CHECK(ParseSize("007K") == 7 * kK);
  CHECK(ParseSize("9223372036854775807") == kMax);
}

TEST_CASE("texts that are not sizes are rejected", "[text]") {
  for (const char* text :
       {"",     "-",  "G",    ".5G", "1.",  "1.5",  "1.G",   "1..5G",    "+1G",          " 1G",      "1G ",
        "1  G", "1 ", "1X",   "1g",  "1BB", "1BiB", "1GiBs", "1KiBytes", "12,34",        "1234,567", "1,2345",
        ",123", "1,", "0x10", "1e3", "inf", "nan",  "--1G",  "1.5.5G",   "unknown size", "\xD9\xA1G"}) {
    CAPTURE(text);
    CHECK_FALSE(ParseSize(text).has_value());
  }
  CHECK_FALSE(ParseSize(std::string_view("1\0G", 3)).has_value());
}

TEST_CASE("sizes out of range are clamped", "[text]") {
  CHECK(ParseSize("8E") == kMax);
  CHECK(ParseSize("7.9999999999999999999999999E") == kMax);
  CHECK(ParseSize("-8E") == kMin);
  CHECK(ParseSize("99999999999999999999999999999999G") == kMax);
  CHECK(ParseSize("-99999999999999999999999999999999") == kMin);
  CHECK(ParseSize("1." + std::string(100000, '9') + "K") == 2 * kK);
  CHECK(ParseSize(std::string(100000, '0') + "5K") == 5 * kK);
}

TEST_CASE("sizes are formatted like the compiler's", "[text]") {
  CHECK(FormatSize(0) == "0 B");
  CHECK(FormatSize(512) == "512 B");
  CHECK(FormatSize(1023) == "1023 B");
  CHECK(FormatSize(kK) == "1.0 KiB");
  CHECK(FormatSize(64 * kK) == "64.0 KiB");
  CHECK(FormatSize(kM - 1) == "1.00 MiB");
  CHECK(FormatSize(999 * kK) == "999.0 KiB");
  CHECK(FormatSize(1000 * kK) == "0.98 MiB");
  CHECK(FormatSize(1000 * kM) == "0.98 GiB");
  CHECK(FormatSize(kG - 1) == "1.00 GiB");
  CHECK(FormatSize(*ParseSize("22.89G")) == "22.89 GiB");
  CHECK(FormatSize(-782500495) == "-746.25 MiB");
  CHECK(FormatSize(*ParseSize("3.84T")) == "3.84 TiB");
  CHECK(FormatSize(kMax) == "8.00 EiB");
  CHECK(FormatSize(kMin) == "-8.00 EiB");
}

TEST_CASE("a formatted size is parsed back to the same digits", "[text]") {
  for (std::int64_t bytes = 1; bytes > 0 && bytes < kMax / 3; bytes = bytes * 3 + 7) {
    CAPTURE(bytes);
    const std::string text = FormatSize(bytes);
    REQUIRE(ParseSize(text).has_value());
    CHECK(FormatSize(*ParseSize(text)) == text);
  }
}

TEST_CASE("a size is complete only with its unit", "[text]") {
  for (const char* text : {"15.75G", "used 2.43G", "12 bytes", "1.5 GiB", "64K", "7B"}) {
    INFO(text);
    CHECK(EndsWithUnit(text));
  }
  for (const char* text : {"15.75", "15.", "15.7 ", "", "G", "jit_step", "fusion.5", "15 steps", "5.G."}) {
    INFO(text);
    CHECK_FALSE(EndsWithUnit(text));
  }
}

}  // namespace TEST_FILE

}  // namespace whyoom
