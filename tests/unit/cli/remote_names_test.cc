// Inputs on other machines: the suggested command.
#include "cli/remote_names.h"

#include <string>
#include <vector>

#include "catch.h"
#include "input/error.h"

using namespace whyoom;

namespace TEST_FILE {

std::string Answer(Command command, const std::vector<std::string>& paths) {
  Options options;
  options.command = command;
  options.paths = paths;
  try {
    ThrowIfRemote(options);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

bool Ends(const std::string& text, const std::string& end) { return text.ends_with(end); }

TEST_CASE("a remote name yields a command that reads it", "[cli]") {
  CHECK(ReadCommand("gs://b/train.log") == "gcloud storage cat gs://b/train.log");
  CHECK(ReadCommand("s3://b/train.log") == "aws s3 cp s3://b/train.log -");
  CHECK(ReadCommand("https://h/a?b=1&c=2") == "curl -fsSL 'https://h/a?b=1&c=2'");
  CHECK(ReadCommand("hdfs://n/a b") == "hdfs dfs -cat 'hdfs://n/a b'");
  CHECK(ReadCommand("abfss://c@a.dfs.core.windows.net/l") == "hadoop fs -cat abfss://c@a.dfs.core.windows.net/l");
  CHECK(ReadCommand("GS://b/x") == "gcloud storage cat GS://b/x");
  CHECK(ReadCommand("gs://b/$(reboot)") == "gcloud storage cat 'gs://b/$(reboot)'");
  CHECK(ReadCommand("s3://b/logs/") == "aws s3 cp --recursive s3://b/logs/ logs");
  CHECK(ReadCommand("gs://b/dump", true) == "gcloud storage cp -r gs://b/dump .");
  for (const char* here : {"train.log", "gs:", "gs://", "gsx://b/x", "file:///a", "-", "", "a/gs://b"}) {
    INFO(here);
    CHECK_FALSE(ReadCommand(here));
  }
}

TEST_CASE("the suggested command ends with the user's whyoom command", "[cli]") {
  CHECK(Ends(Answer(Command::kDiagnose, {"gs://b/x"}), "\n  gcloud storage cat gs://b/x | whyoom"));
  CHECK(Ends(Answer(Command::kMerge, {"s3://b/x"}), " - | whyoom merge"));
  CHECK(Ends(Answer(Command::kDiff, {"gs://b/x", "after.log"}), "gs://b/x | whyoom diff - AFTER"));
  CHECK(Ends(Answer(Command::kDiff, {"before.log", "gs://b/x"}), "gs://b/x | whyoom diff BEFORE -"));
  CHECK(Ends(Answer(Command::kDiagnose, {"gs://b/logs/"}), "gcloud storage cp -r gs://b/logs/ . && whyoom logs"));
  CHECK(Answer(Command::kDiagnose, {"train.log", "-"}).empty());
  CHECK(Answer(Command::kDiagnose, {"gs://\x1b[2J"}).find('\x1b') == std::string::npos);
}

}  // namespace TEST_FILE
