// Runs of blanks become single blanks.
#include <random>
#include <string>

#include "catch.h"
#include "text/utf8.h"

using namespace whyoom;

namespace TEST_FILE {

constexpr std::string_view kBlanks = " \t";

// A simple reference implementation.
std::string Reduced(std::string to, const std::string& text) {
  for (const char c : text) {
    const bool is_blank = c == ' ' || c == '\t';
    if (is_blank && (to.empty() || to.back() == ' ')) continue;
    to += is_blank ? ' ' : c;
  }
  return to;
}

TEST_CASE("runs of blanks are reduced wherever they are, and nothing else is", "[text]") {
  std::mt19937 random(20261127);
  const std::string bytes = "aZ~!\x1f\x7f\x80\xe2\xff\n";
  for (int round = 0; round < 20000; ++round) {
    std::string text;
    // With few blanks, most texts take the fast path.
    for (std::size_t left = random() % 40; left > 0; --left)
      text += random() % 6 == 0 ? (random() % 9 == 0 ? '\t' : ' ') : bytes[random() % (round % 2 == 0 ? 4 : 10)];
    for (const char* before : {"", "x", "x "}) {
      CAPTURE(text, before);
      std::string to = before;
      AppendWithSingleBlanks(text, kBlanks, &to);
      REQUIRE(to == Reduced(before, text));
    }
  }
}

}  // namespace TEST_FILE
