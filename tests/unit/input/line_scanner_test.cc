#include "input/line_scanner.h"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "catch.h"

namespace whyoom {
namespace TEST_FILE {

struct Given {
  std::uint64_t number;
  std::uint64_t offset;
  std::string bytes;
  bool after_gap;
  bool cut;
  bool operator==(const Given&) const = default;
};

std::ostream& operator<<(std::ostream& out, const Given& line) {
  return out << line.number << "@" << line.offset << (line.after_gap ? " gap" : "") << (line.cut ? " cut" : "") << " \""
             << line.bytes << "\"";
}

LineScanner::Limits SmallLimits(std::size_t block, std::size_t before, std::size_t line) {
  LineScanner::Limits limits;
  limits.block_bytes = block;
  limits.before_bytes = limits.close_bytes = before;
  limits.line_bytes = line;
  return limits;
}

// The look-behind literals of these tests.
const std::vector<std::string> kLeads = {"op", "gn"};  // one opener, one other

// Bit n % 64 of `turns` is the argument `adjacent` of the n-th call.
std::vector<Given> Drain(LineScanner& scanner, std::uint64_t turns) {
  std::vector<Given> given;
  RawLine line;
  for (std::size_t n = 0; scanner.Next((turns >> n % 64 & 1) != 0, &line); ++n) {
    given.push_back({line.number, line.offset, std::string(line.bytes), line.after_gap, line.cut});
  }
  CHECK_FALSE(scanner.Next(true, &line));
  CHECK_FALSE(scanner.Next(false, &line));
  return given;
}

std::vector<Given> Scan(std::string_view log, const std::vector<std::string>& literals,
                        const LineScanner::Limits& limits, std::size_t chunk, std::uint64_t turns = 0,
                        bool leads = false, std::size_t threads = 0, std::size_t triggers = kAllTriggers) {
  const auto source = OpenMemory(log, chunk);
  const Prefilter prefilter(literals);
  const Prefilter lead(kLeads);
  LineScanner::Options options{nullptr, limits, triggers, threads};
  if (leads) options.lead = [&] { return LookBehind{&lead, 1}; };
  LineScanner scanner(*source, prefilter, options);
  std::vector<Given> given = Drain(scanner, turns);
  if ((turns & 1) == 0) CHECK(scanner.bytes_read() == log.size());
  return given;
}

// A simple reference implementation of LineScanner for a log in memory.
struct Reference {
  struct Piece {
    Given given;
    std::size_t end;  // after its line feed
  };
  std::vector<Piece> pieces;
  std::vector<std::size_t> hits;  // ends, ascending
  std::size_t line_bytes;

  Reference(const std::string& log, const std::vector<std::string>& literals, std::size_t longest)
      : line_bytes(longest) {
    std::uint64_t number = 1;
    for (std::size_t start = 0; start < log.size(); ++number) {
      const std::size_t feed = std::min(log.find('\n', start), log.size());
      const bool cut = feed - start > line_bytes;
      for (std::size_t at = start; at == start || at < feed; at += line_bytes) {
        const std::size_t end = std::min(at + line_bytes, feed);
        pieces.push_back({{number, at, log.substr(at, end - at), false, cut}, end == feed ? feed + 1 : end});
      }
      start = feed + 1;
    }
    for (const std::string& literal : literals) {
      for (std::size_t at = log.find(literal); at != std::string::npos; at = log.find(literal, at + 1)) {
        hits.push_back(at + literal.size());
      }
    }
    std::sort(hits.begin(), hits.end());
  }

  std::size_t PieceOf(std::size_t byte) const {
    std::size_t index = 0;
    while (pieces[index].end <= byte) ++index;
    return index;
  }

  // The lines with look-behind literals: the text before a hit decides which lines before it are returned.
  std::vector<Given> LinesWithLeads(const std::string& log, std::size_t before, std::size_t close,
                                    std::uint64_t turns) const {
    std::vector<Given> lines;
    std::set<std::size_t> wanted;  // pieces
    std::size_t next = 0;
    std::size_t last_end = 0;
    for (std::size_t n = 0; next < pieces.size(); ++n) {
      if ((turns >> n % 64 & 1) == 0) {
        while (!wanted.empty() && *wanted.begin() < next) wanted.erase(wanted.begin());
        if (wanted.empty()) {
          const auto hit = std::upper_bound(hits.begin(), hits.end(), pieces[next].given.offset);
          if (hit == hits.end()) break;
          Want(log, *hit, before, close, next, &wanted);
        }
        next = *wanted.begin();
      }
      Given given = pieces[next].given;
      given.after_gap = given.offset != last_end;
      last_end = pieces[next++].end;
      lines.push_back(given);
    }
    return lines;
  }

  // Returns the start of the complete line before the piece at `start` if it is near and one piece, otherwise `start`.
  std::size_t LineBefore(const std::string& log, std::size_t start, std::size_t reach, std::size_t close) const {
    if (start == 0 || log[start - 1] != '\n') return start;
    std::size_t begin = start - 1;
    while (begin > 0 && log[begin - 1] != '\n') --begin;
    return begin >= reach && start - begin <= close && start - 1 - begin <= line_bytes ? begin : start;
  }

  void Want(const std::string& log, std::size_t hit, std::size_t before, std::size_t close, std::size_t next,
            std::set<std::size_t>* wanted) const {
    const std::size_t given_end = pieces[next].given.offset;
    const std::size_t reach = std::max(given_end, hit - std::min(hit, before));
    const bool touches = given_end == reach;
    const auto want_from = [&](std::size_t from) {
      for (std::size_t i = next; i <= PieceOf(hit - 1); ++i) {
        if (pieces[i].given.offset >= from || i == PieceOf(hit - 1)) wanted->insert(i);
      }
    };
    const std::size_t close_from = std::max(reach, hit - std::min(hit, close));
    want_from(close_from);
    const auto is = [&](const char* lead, std::size_t end) { return log.compare(end - 2, 2, lead) == 0; };
    // Go back from opener to opener while each is near the next.
    std::size_t first = hit;
    for (std::size_t end = hit; end >= reach + 2; --end) {
      if (is("op", end) && end - 1 + close >= std::min(first, close_from)) first = end - 1;
    }
    const bool opened = first < close_from;
    if (first < hit && touches && first <= reach + close) return want_from(reach);
    for (std::size_t end = reach + 2; end <= hit; ++end) {
      if (!is("op", end) && !is("gn", end)) continue;
      const std::size_t piece = PieceOf(end - 1);
      const std::size_t start = pieces[piece].given.offset;
      if (start >= close_from) break;
      if (opened && end - 1 == first) return want_from(start >= reach ? LineBefore(log, start, reach, close) : end - 1);
      if (is("gn", end) && start >= reach) wanted->insert(piece);
    }
  }

  std::vector<Given> Lines(std::size_t before, std::uint64_t turns) const {
    std::vector<Given> lines;
    std::size_t next = 0;    // index of the first piece not returned
    std::size_t wanted = 0;  // pieces are returned up to the one that contains the byte before this offset
    std::size_t last_end = 0;
    for (std::size_t n = 0; next < pieces.size(); ++n) {
      const std::size_t at = pieces[next].given.offset;
      if ((turns >> n % 64 & 1) == 0 && wanted <= at) {
        const auto hit = std::upper_bound(hits.begin(), hits.end(), at);
        if (hit == hits.end()) break;
        wanted = *hit;
        while (pieces[next].end < wanted && pieces[next].given.offset + before < wanted) ++next;
      }
      Given given = pieces[next].given;
      given.after_gap = given.offset != last_end;
      last_end = pieces[next++].end;
      lines.push_back(given);
    }
    return lines;
  }
};

TEST_CASE("only the lines up to a hit are returned", "[input]") {
  const std::string log = "one\ntwo\nthree\nfour boom\nfive\nsix\n";
  const auto lines = Scan(log, {"boom"}, SmallLimits(1024, 12, 1024), 1024);
  REQUIRE(lines.size() == 1);
  CHECK(lines[0] == Given{4, 14, "four boom", true, false});

  const auto context = Scan(log, {"boom"}, SmallLimits(1024, 15, 1024), 1024);
  REQUIRE(context.size() == 2);
  CHECK(context[0] == Given{3, 8, "three", true, false});
  CHECK(context[1] == Given{4, 14, "four boom", false, false});
}

TEST_CASE("adjacent lines follow the hit, whatever they contain", "[input]") {
  const std::string log = "a\nboom\nb\n\nc boom\nd";
  const auto source = OpenMemory(log);
  const Prefilter prefilter({"boom"});
  LineScanner scanner(*source, prefilter, {nullptr, SmallLimits(64, 0, 64)});
  RawLine line;
  REQUIRE(scanner.Next(false, &line));
  CHECK(line.bytes == "boom");
  CHECK(line.after_gap);
  REQUIRE(scanner.Next(true, &line));
  CHECK(line.bytes == "b");
  CHECK_FALSE(line.after_gap);
  REQUIRE(scanner.Next(true, &line));
  CHECK(line.bytes == "");
  CHECK(line.number == 4);
  REQUIRE(scanner.Next(false, &line));
  CHECK(line.bytes == "c boom");
  CHECK_FALSE(line.after_gap);  // the line before it was returned
  REQUIRE(scanner.Next(true, &line));
  CHECK(line.bytes == "d");
  CHECK(line.number == 6);
  CHECK_FALSE(scanner.Next(true, &line));
}

TEST_CASE("the first line can be requested without a hit", "[input]") {
  const auto lines = Scan("a\nb\nc", {"nothing"}, SmallLimits(4, 4, 4), 1, ~std::uint64_t{0});
  REQUIRE(lines.size() == 3);
  CHECK(lines[0] == Given{1, 0, "a", false, false});
  CHECK(lines[2] == Given{3, 4, "c", false, false});
}

TEST_CASE("a hit that spans two blocks is found", "[input]") {
  const std::string word = "RESOURCE_EXHAUSTED";
  for (std::size_t at = 0; at < 70; ++at) {
    const std::string log = std::string(at, 'x') + "\n" + word + ": full\nend\n";
    const auto lines = Scan(log, {"resource_exhausted"}, SmallLimits(16, 0, 64), 16);
    REQUIRE(lines.size() == 1);
    CHECK(lines[0].number == 2);
    CHECK(lines[0].bytes == word + ": full");
  }
}

TEST_CASE("an input without bytes or hits has no lines", "[input]") {
  CHECK(Scan("", {"boom"}, SmallLimits(8, 8, 8), 3).empty());
  CHECK(Scan("", {"boom"}, SmallLimits(8, 8, 8), 3, ~std::uint64_t{0}).empty());
  CHECK(Scan("quiet\n", {"boom"}, SmallLimits(8, 8, 8), 3).empty());
  CHECK(Scan("boom\n", {}, SmallLimits(8, 8, 8), 3).empty());
}

TEST_CASE("a last line without a line feed is a line", "[input]") {
  for (const std::string log : {"x\nboom", "x\nboom\n"}) {
    const auto lines = Scan(log, {"boom"}, SmallLimits(8, 0, 8), 3);
    REQUIRE(lines.size() == 1);
    CHECK(lines[0] == Given{2, 2, "boom", true, false});
  }
}

TEST_CASE("carriage returns are left to the normalizer", "[input]") {
  const auto lines = Scan("a\r\nboom\rbar\r\n", {"boom"}, SmallLimits(8, 0, 16), 5);
  REQUIRE(lines.size() == 1);
  CHECK(lines[0].bytes == "boom\rbar\r");
}

TEST_CASE("a long line is returned in pieces", "[input]") {
  const std::string log = "short\n" + std::string(10, 'a') + std::string(10, 'b') + "boom\nend\n";
  const auto lines = Scan(log, {"boom"}, SmallLimits(7, 100, 10), 3);
  REQUIRE(lines.size() == 4);
  CHECK(lines[0] == Given{1, 0, "short", false, false});
  CHECK(lines[1] == Given{2, 6, "aaaaaaaaaa", false, true});
  CHECK(lines[2] == Given{2, 16, "bbbbbbbbbb", false, true});
  CHECK(lines[3] == Given{2, 26, "boom", false, true});
}

TEST_CASE("a line of exactly the limit is not long", "[input]") {
  const auto lines = Scan("0123456789\nboom", {"boom"}, SmallLimits(3, 100, 10), 2);
  REQUIRE(lines.size() == 2);
  CHECK(lines[0] == Given{1, 0, "0123456789", false, false});
}

TEST_CASE("a piece in the middle of a long line comes after a gap", "[input]") {
  const std::string log = std::string(95, 'a') + "boom" + std::string(50, 'a');
  const auto lines = Scan(log, {"boom"}, SmallLimits(8, 0, 10), 7);
  REQUIRE(lines.size() == 1);
  CHECK(lines[0] == Given{1, 90, "aaaaaboom" + std::string(1, 'a'), true, true});
}

std::string RandomLog(std::mt19937* random) {
  // Few letters, so that hits, partial hits and empty lines are frequent.
  std::string log;
  const std::size_t size = (*random)() % 600;
  const std::size_t letters = 3 + (*random)() % 20;
  while (log.size() < size) {
    const std::size_t pick = (*random)() % (letters + 4);
    if (pick == 0) {
      log += "boom";
    } else if (pick == 1) {
      log += "bo";
    } else if (pick == 2) {
      log += '\n';
    } else {
      log += static_cast<char>('b' + pick % 16);
    }
  }
  return log;
}

TEST_CASE("the lines do not depend on the chunking", "[input][slow]") {
  std::mt19937 random(20261120);
  const std::vector<std::string> literals = {"boom", "oomb", "kb", "cdefghi"};
  for (int round = 0; round < 3000; ++round) {
    const std::string log = RandomLog(&random);
    const std::size_t before = random() % 80;
    const std::size_t line_bytes = 1 + random() % 60;
    // A third of the rounds requests no adjacent lines, the others some.
    const std::uint64_t turns =
        round % 3 == 0 ? 0 : (std::uint64_t{random()} << 32 | random()) & (std::uint64_t{random()} << 32 | random());
    const auto expected = Reference(log, literals, line_bytes).Lines(before, turns);
    for (const std::size_t block : {std::size_t{1}, std::size_t{1 + random() % 40}, std::size_t{4096}}) {
      const std::size_t chunk = 1 + random() % 30;
      CAPTURE(log, before, line_bytes, turns, block, chunk);
      const auto lines = Scan(log, literals, SmallLimits(block, before, line_bytes), chunk, turns);
      REQUIRE(lines == expected);
    }
  }
}

TEST_CASE("lines with look-behind literals are returned, whatever the chunking and the threads", "[input][slow]") {
  std::mt19937 random(20261121);
  const std::vector<std::string> literals = {"boom", "oomb", "kb"};
  for (int round = 0; round < 1500; ++round) {
    std::string log = RandomLog(&random);
    for (std::size_t i = 0; i + 2 <= log.size(); i += 1 + random() % 120) log.replace(i, 2, random() % 2 ? "op" : "gn");
    LineScanner::Limits limits = SmallLimits(1 + random() % 64, random() % 200, 1 + random() % 60);
    limits.close_bytes = random() % 60;
    const std::size_t close = std::min(limits.close_bytes, limits.before_bytes);
    const std::uint64_t turns = round % 3 == 0 ? 0 : std::uint64_t{random()} & random();
    CAPTURE(log, limits.before_bytes, close, limits.line_bytes, turns, limits.block_bytes);
    const auto expected =
        Reference(log, literals, limits.line_bytes).LinesWithLeads(log, limits.before_bytes, close, turns);
    REQUIRE(Scan(log, literals, limits, 1 + random() % 30, turns, true) == expected);
    REQUIRE(Scan(log, literals, limits, 4096, turns, true) == expected);
    REQUIRE(Scan(log, literals, limits, 4096, turns, true, 1 + random() % 3) == expected);
  }
}

TEST_CASE("hits matter only if the artifact has a trigger or is long", "[input]") {
  const std::vector<std::string> literals = {"boom", "setting"};
  LineScanner::Limits limits = SmallLimits(64, 4, 60);
  limits.decide_bytes = 10'000;
  for (const std::size_t gap : {0, 30, 100, 5000}) {
    INFO(gap);
    const std::string settings = "setting 1\n" + std::string(gap, '\n') + "setting 2\n";
    const std::string failed = settings + std::string(gap, '\n') + "boom\n" + settings;
    const auto scan = [&](const std::string& log) { return Scan(log, literals, limits, 4096, 0, false, 2, 1); };
    CHECK(scan(settings).empty());
    CHECK(scan(failed) == Scan(failed, literals, limits, 4096));
    CHECK(scan(failed).size() >= 5);
    CHECK(scan(settings + std::string(10'000, '\n')).size() >= 2);
  }
}

// A followed source: returns no bytes once between its parts.
class Growing : public ByteSource {
 public:
  explicit Growing(std::deque<std::string> parts) : parts_(std::move(parts)) {}
  std::size_t Read(char* buffer, std::size_t capacity) override {
    if (parts_.empty()) return 0;
    const std::size_t count = parts_.front().copy(buffer, capacity);
    parts_.front().erase(0, count);
    if (count == 0) parts_.pop_front();
    return count;
  }

 private:
  std::deque<std::string> parts_;
};

TEST_CASE("of a setting in every line, the first ones and those before a trigger count", "[input]") {
  std::string log;
  for (int i = 1; i <= 1000; ++i) log += "setting " + std::to_string(i) + "\n";
  log += "boom\nsetting 1001\n";
  LineScanner::Limits limits = SmallLimits(256, 100, 60);
  limits.close_bytes = 0;
  const std::vector<Given> given = Scan(log, {"boom", "setting"}, limits, 7, 0, true, 0, 1);
  std::vector<std::uint64_t> numbers;
  for (const Given& line : given) numbers.push_back(line.number);
  std::vector<std::uint64_t> expected;
  for (std::uint64_t i = 1; i <= LineScanner::kMostOfSetting; ++i) expected.push_back(i);
  for (std::uint64_t i = 994; i <= 1002; ++i) expected.push_back(i);  // 100 bytes are seven lines and a part of one
  CHECK(numbers == expected);
  CHECK(Scan(log, {"boom", "setting"}, limits, 4096, 0, true, 2, 1) == given);
}

TEST_CASE("more of a followed source can show that earlier hits matter", "[input]") {
  const Prefilter prefilter({"boom", "setting"});
  LineScanner::Limits limits = SmallLimits(64, 4, 60);
  limits.decide_bytes = 500;
  for (const std::size_t gap : {3, 30, 1000}) {
    INFO(gap);
    const std::string first = "setting\n" + std::string(gap, '\n');
    Growing source({first, "boom\n"});
    LineScanner scanner(source, prefilter, {.limits = limits, .triggers = 1});
    std::vector<Given> given = Drain(scanner, 0);
    CHECK(given.size() == (gap == 1000 ? 1 : 0));  // all hits of a long artifact count
    scanner.Resume();
    const std::vector<Given> more = Drain(scanner, 0);
    given.insert(given.end(), more.begin(), more.end());
    CHECK(given == Scan(first + "boom\n", {"boom", "setting"}, limits, 4096));
  }
}

TEST_CASE("a scanner may be destroyed while threads search", "[input]") {
  const std::string log = std::string(100000, 'x') + "boom" + std::string(100000, 'x');
  const auto source = OpenMemory(log);
  const Prefilter prefilter({"boom"});
  LineScanner scanner(*source, prefilter, {.limits = SmallLimits(1024, 4, 60), .threads = 2});
  RawLine line;
  REQUIRE(scanner.Next(false, &line));
  CHECK(line.offset == 99960);
}

TEST_CASE("line numbers are right far after the last hit", "[input]") {
  std::string log;
  for (int i = 0; i < 300000; ++i) log += "step " + std::to_string(i) + "\n";
  log += "boom\n";
  const auto lines = Scan(log, {"boom"}, LineScanner::Limits(), 10000);
  REQUIRE(lines.size() > 100);
  CHECK(lines.back() == Given{300001, log.size() - 5, "boom", false, false});
  CHECK(lines.front().after_gap);
  CHECK(lines.front().offset + (64 << 10) >= log.size() - 1);
  CHECK(lines.front().bytes == "step " + std::to_string(lines.front().number - 1));
}

// Returns the same bytes again and again, up to a size that no test could keep in memory.
class Endless : public ByteSource {
 public:
  explicit Endless(std::uint64_t size) : left_(size) {}
  std::size_t Read(char* buffer, std::size_t capacity) override {
    const std::size_t count = static_cast<std::size_t>(std::min<std::uint64_t>(capacity, left_));
    std::fill(buffer, buffer + count, 'x');
    left_ -= count;
    return count;
  }

 private:
  std::uint64_t left_;
};

TEST_CASE("a huge line without a line feed is skipped", "[input][slow]") {
  Endless source(std::uint64_t{300} << 20);
  const Prefilter prefilter({"boom"});
  LineScanner scanner(source, prefilter, {});
  RawLine line;
  CHECK_FALSE(scanner.Next(false, &line));
  CHECK(scanner.bytes_read() == std::uint64_t{300} << 20);
}

}  // namespace TEST_FILE
}  // namespace whyoom
