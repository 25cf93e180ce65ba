// A log with interleaved lines of several streams, each with a prefix that names its stream: the report is clean and
// does not depend on the chunking.
#include <fmt/format.h>

#include <deque>

#include "clean_text.h"
#include "fuzz/report_of.h"
#include "fuzz/report_text.h"
#include "report/printers.h"

using namespace whyoom;

namespace {

std::string LinePrefix(std::size_t style, std::size_t stream, std::size_t line) {
  switch (style) {
    case 0:
      return fmt::format("[rank{}]: ", stream);
    case 1:
      return fmt::format("(TrainWorker pid={}, ip=10.0.3.7) ", 70000 + stream);
    case 2:
      return fmt::format("{}: ", stream);
    case 3:
      return fmt::format("[1,{}]<stderr>: ", stream);
    case 4:
      return fmt::format("worker-{}  | ", stream);
    case 5:
      return fmt::format("2026-11-20T12:00:{:02}.{:06}Z t1v-n-0a1b2c3d-w-{}: ", line % 60, line, stream);
    case 6:
      return fmt::format("I1120 12:00:{:02}.{:06}    {} pjrt_client.cc:100] ", line % 60, line, 4001 + stream);
    default:
      return stream == 0 ? "" : fmt::format("(pid={}) ", stream);
  }
}

std::deque<std::string> MadeLines(Choices& choices) {
  std::string text;
  for (std::size_t parts = choices.Below(8); parts > 0; --parts) text += MadePart(choices);
  std::deque<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Choices choices(Bytes(data, size));
  const std::size_t chunk = 1 + choices.Byte();
  const std::size_t style = choices.Below(8);
  std::deque<std::deque<std::string>> streams;
  for (std::size_t count = 2 + choices.Below(3); count > 0; --count) streams.push_back(MadeLines(choices));
  std::string log;
  for (std::size_t line = 0;; ++line) {
    const auto has_lines = [](const auto& lines) { return !lines.empty(); };
    if (std::none_of(streams.begin(), streams.end(), has_lines)) break;
    std::size_t stream = choices.empty() ? line % streams.size() : choices.Below(streams.size());
    while (streams[stream].empty()) stream = (stream + 1) % streams.size();
    log += LinePrefix(choices.OneIn(50) ? choices.Below(8) : style, stream, line) + streams[stream].front() + "\n";
    streams[stream].pop_front();
  }
  const Report report = ReportOf(log, std::string_view::npos);
  const std::string json = PrintJson(report);
  Require(json == PrintJson(ReportOf(log, chunk)), "the result depends only on the bytes");
  Require(IsClean(json, "\n"), "the JSON is clean");
  for (const Failure& failure : report.failures) Require(failure.where.offset < log.size(), "a finding is in the log");
  return 0;
}
