#include "cli/print_report.h"

#include <cstdlib>
#include <exception>
#include <filesystem>
#include <system_error>

#include "cli/file_writer.h"
#include "cli/terminal.h"
#include "input/error.h"
#include "report/printers.h"

namespace whyoom {
namespace {

// Uses the current folder by default, because code scanning runs in the root of the sources.
std::string SourceRootOrHere(const std::string& source_root) {
  std::error_code error;
  return source_root.empty() ? std::filesystem::current_path(error).string() : source_root;
}

// If an output cannot be written, writes the others, then throws Error.
void WriteExtras(const Options& options, const PrintFunction& print) {
  std::exception_ptr problem;
  for (const ExtraOutput& extra : options.extra_outputs) {
    try {
      WriteOutput(print(extra.format, StyleOf(options, /*to_file=*/true)), extra.path);
    } catch (const Error&) {
      problem = std::current_exception();
    }
  }
  if (problem) std::rethrow_exception(problem);
}

// Borrows both.
PrintFunction PrinterOf(const Report& report, const Options& options) {
  return [&](Format format, const TextOptions& text) { return PrintReport(report, format, text, options.source_root); };
}

}  // namespace

TextOptions StyleOf(const Options& options, bool to_file, int descriptor) {
  return {TextWidth(to_file, descriptor), to_file ? 0 : TerminalRows(descriptor),
          UseColour(options.color, to_file, descriptor), options.detail, !options.quiet};
}

std::string PrintReport(const Report& report, Format format, const TextOptions& text, const std::string& source_root) {
  switch (format) {
    case Format::kText:
      return PrintText(report, text);
    case Format::kJson:
      return text.detail == Detail::kBrief ? PrintBriefJson(report) : PrintJson(report);
    case Format::kNdjson:
      return PrintNdjson(report);
    case Format::kMarkdown:
      return PrintMarkdown(report);
    case Format::kHtml:
      return PrintHtml(report);
    case Format::kGithub:
      return PrintGithub(report, source_root);
    case Format::kSarif:
      return PrintSarif(report, SourceRootOrHere(source_root));
    case Format::kJunit:
      return PrintJunit(report);
  }
  return {};
}

void WriteFormats(const Options& options, const PrintFunction& print, int descriptor, const std::string& before) {
  const auto write = [&](const std::string& path) {
    const std::string text = print(options.format, StyleOf(options, !path.empty(), descriptor));
    WriteOutput(path.empty() ? before + text : text, path, descriptor);
  };
  std::exception_ptr problem;
  try {
    write(options.output);
  } catch (const Error&) {
    problem = std::current_exception();
    if (!options.output.empty()) write("");
  }
  WriteExtras(options, print);
  if (problem) std::rethrow_exception(problem);
}

void WriteReport(const Report& report, const Options& options, int descriptor, const std::string& before) {
  WriteFormats(options, PrinterOf(report, options), descriptor, before);
}

void WriteExtraOutputs(const Report& report, const Options& options) {
  WriteExtras(options, PrinterOf(report, options));
}

}  // namespace whyoom
