#include "cli/output_files.h"

#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <system_error>
#include <vector>

#include "cli/file_writer.h"
#include "input/error.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

using File = std::pair<unsigned long long, unsigned long long>;

// Nothing for what is not there, and for devices and pipes, which hold nothing to lose.
std::optional<File> RegularFile(const std::string& path) {
  struct stat status {};
  if (path.empty() || stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  return File(status.st_dev, status.st_ino);
}

}  // namespace

OutputFiles::OutputFiles(const Options& options) {
  std::vector<std::string> outputs;
  if (!options.output.empty()) outputs.push_back(options.output);
  for (const ExtraOutput& extra : options.extra_outputs) outputs.push_back(extra.path);
  if (!options.write_baseline.empty()) outputs.push_back(options.write_baseline);
  if (const char* summary = std::getenv("GITHUB_STEP_SUMMARY"); options.step_summary && summary != nullptr)
    outputs.emplace_back(summary);
  std::set<std::string> names;
  for (const std::string& output : outputs) {
    const std::optional<File> file = RegularFile(output);
    std::error_code error;
    if (!file && std::filesystem::exists(output, error)) continue;
    if (!names.insert(FinalName(output)).second || (file && !files_.insert(*file).second))
      throw Error("two reports for one file: " + Printable(output));
  }
  for (const std::string& path : options.paths) ThrowIfOutput(path);
  for (const std::string& path : options.rules) ThrowIfRule(path);
  ThrowIfOutput(options.files_from);
  if (options.baseline != options.write_baseline) ThrowIfOutput(options.baseline);  // adding to one is no loss
  if (options.resume.empty()) return;
  ThrowIfOutput(options.resume);
  if (names.contains(FinalName(options.resume)))
    throw Error("a report would overwrite the journal of --resume: " + Printable(options.resume));
}

// A folder of them is read whole, before anything is written.
void OutputFiles::ThrowIfRule(const std::string& path) const {
  ThrowIfOutput(path);
  if (files_.empty()) return;
  std::error_code error;  // what cannot be listed is told by who reads it
  for (std::filesystem::directory_iterator entry(path, error), end; !error && entry != end; entry.increment(error))
    ThrowIfOutput(entry->path().string());
}

void OutputFiles::ThrowIfOutput(const std::string& path) const {
  if (files_.empty()) return;
  const std::optional<File> file = RegularFile(path);
  if (file && files_.count(*file) > 0) throw Error("a report would overwrite what is read: " + Printable(path));
}

}  // namespace whyoom
