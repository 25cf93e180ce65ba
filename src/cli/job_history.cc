#include "cli/job_history.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>
#include <system_error>
#include <vector>

#include "cli/file_writer.h"
#include "input/byte_source.h"
#include "text/timestamp.h"

namespace whyoom {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::uintmax_t kMostBytes = std::uintmax_t{256} << 10;
constexpr std::size_t kTooOften = 3;  // attempts

using Attempt = std::set<std::string>;  // ids of its failures; empty if it succeeded

std::string LastBytes(const std::string& path) {
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  if (error) return {};  // the first attempt
  const std::unique_ptr<ByteSource> file = OpenFile(path);
  for (std::uintmax_t skip = size > kMostBytes ? size - kMostBytes : 0; skip > 0;) {
    const std::string skipped = ReadUpTo(*file, std::min(skip, kMostBytes));
    if (skipped.empty()) break;
    skip -= skipped.size();
  }
  return ReadUpTo(*file, kMostBytes);
}

std::vector<Attempt> ReadAttempts(const std::string& path) {
  std::vector<Attempt> attempts;
  const std::string text = LastBytes(path);
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const Json line = Json::parse(text.begin() + static_cast<std::ptrdiff_t>(begin),
                                  text.begin() + static_cast<std::ptrdiff_t>(end), nullptr, false);
    begin = end + 1;
    if (!line.is_object() || !line.contains("failures") || !line["failures"].is_array()) continue;
    Attempt& attempt = attempts.emplace_back();
    for (const Json& id : line["failures"]) {
      if (id.is_string()) attempt.insert(id.get<std::string>());
    }
  }
  return attempts;
}

std::string TimeNow() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return ToString(Timestamp{std::chrono::duration_cast<std::chrono::seconds>(now).count() * 1'000'000, true});
}

}  // namespace

void CompareWithHistory(const std::string& path, int exit_status, Report* report) {
  const std::vector<Attempt> attempts = ReadAttempts(path);
  Json record = {{"time", TimeNow()}, {"exit_status", exit_status}, {"failures", Json::array()}};
  for (Diagnosis& finding : report->findings) {
    record["failures"].push_back(finding.id);
    const auto without = std::find_if(attempts.rbegin(), attempts.rend(),
                                      [&](const Attempt& attempt) { return !attempt.contains(finding.id); });
    const auto times = static_cast<std::size_t>(without - attempts.rbegin()) + 1;
    if (times < kTooOften) continue;
    finding.retry = {Retry::Answer::kNever,
                     fmt::format("{} attempts in a row ended with this failure and the same figures: nothing that "
                                 "matters has changed.",
                                 times)};
  }
  AppendToFile(record.dump(-1, ' ', true, Json::error_handler_t::replace) + "\n", path);
}

}  // namespace whyoom
