#include "cli/job_history.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "cli/file_writer.h"
#include "text/timestamp.h"

namespace whyoom {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::streamoff kMostBytes = std::streamoff{256} << 10;
constexpr std::size_t kTooOften = 3;  // attempts

using Attempt = std::set<std::string>;  // ids of its failures; empty if it succeeded

// Empty for the first attempt.
std::string LastBytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  const std::streamoff size = file ? static_cast<std::streamoff>(file.tellg()) : 0;
  std::string text(static_cast<std::size_t>(std::clamp<std::streamoff>(size, 0, kMostBytes)), '\0');
  file.seekg(size - static_cast<std::streamoff>(text.size()));
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(std::max<std::streamsize>(0, file.gcount())));
  return text;
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

void CompareWithHistory(const std::string& path, int exit_status, const std::function<bool(const Diagnosis&)>& ended,
                        Report* report) {
  const std::vector<Attempt> attempts = ReadAttempts(path);
  Json record = {{"time", TimeNow()}, {"exit_status", exit_status}, {"failures", Json::array()}};
  for (Diagnosis& finding : report->findings) {
    if (!ended(finding)) continue;
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
