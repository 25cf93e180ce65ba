// A job's output is stored in bounded memory, and its lines keep their numbers.
#include <string>

#include "catch.h"
#include "cli/job.h"
#include "read_all.h"

using namespace whyoom;

namespace TEST_FILE {

constexpr std::size_t kMiB = std::size_t{1} << 20;

TEST_CASE("output that fits is read back unchanged", "[cli]") {
  JobLog log;
  log.Add("one\n");
  log.Add("");
  log.Add(std::string(kMiB, 'x'));
  log.Add("\nthree");
  CHECK(ReadAll(log) == "one\n" + std::string(kMiB, 'x') + "\nthree");
  CHECK(log.dropped_bytes() == 0);
  CHECK(ReadAll(*std::make_unique<JobLog>()).empty());
}

TEST_CASE("the first and last lines of a long output are kept, with their numbers", "[cli]") {
  constexpr std::size_t kLine = 64;  // bytes
  constexpr std::size_t kLines = 100 * kMiB / kLine;
  JobLog log;
  for (std::size_t i = 1; i <= kLines; ++i) {
    std::string line = std::to_string(i);
    line.resize(kLine - 1, ' ');
    log.Add(line + "\n");
  }
  // The last 92 MiB overflowed 56 MiB twice, and 28 of them stayed.
  CHECK(log.dropped_bytes() / kMiB == 56);
  const std::string text = ReadAll(log);
  CHECK(text.size() < JobLog::kFirst + 2 * JobLog::kLast + kLines);
  CHECK(static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) == kLines);
  const std::size_t last = text.rfind('\n', text.size() - 2) + 1;
  CHECK(text.substr(last, 8) == std::to_string(kLines).append(8, ' ').substr(0, 8));
  CHECK(text.substr(JobLog::kFirst - 1, 4) == "\n\n\n\n");
}

}  // namespace TEST_FILE
