// Which text is masked, and which text a diagnosis needs and keeps.
#include "text/secrets.h"

#include <string>
#include <utility>
#include <vector>

#include "catch.h"

namespace whyoom {
namespace TEST_FILE {

// The random part of a made-up token, `size` characters long.
std::string Random(std::size_t size) {
  std::string text;
  while (text.size() < size) text += "a1B2c3D4e5F6g7H8";
  return text.substr(0, size);
}

TEST_CASE("the value of a name for a secret is masked", "[text]") {
  const std::string value = "hunter2";
  for (const std::string before : {"password=",
                                   "PASSWORD=",
                                   "DB_PASSWORD=",
                                   "password: ",
                                   "passwd = ",
                                   "--password ",
                                   "--password=",
                                   "passphrase: ",
                                   "client_secret=",
                                   "SECRET=",
                                   "secret: ",
                                   "api_key=",
                                   "apikey: ",
                                   "apiKey: ",
                                   "API key: ",
                                   "X-Api-Key: ",
                                   "WANDB_API_KEY=",
                                   "access_key=",
                                   "AWS_SECRET_ACCESS_KEY=",
                                   "secret_key: ",
                                   "private_key: ",
                                   "session_key=",
                                   "account_key=",
                                   "token=",
                                   "TOKEN=",
                                   "HF_TOKEN=",
                                   "hf_token: ",
                                   "--token ",
                                   "--hf-token=",
                                   "-token ",
                                   "authToken: ",
                                   "auth=",
                                   "Authorization: ",
                                   "Authorization: Bearer ",
                                   "Authorization: Basic ",
                                   "authorization=token ",
                                   "credential=",
                                   "credentials: ",
                                   "session_id=",
                                   "Cookie: sid=",
                                   "export TOKEN=",
                                   "Token2=",
                                   "?token=",
                                   "&password="}) {
    CAPTURE(before);
    const std::string shown = before == "Cookie: sid=" ? "Cookie: " : before;
    CHECK(MaskSecrets("run " + before + value) == "run " + shown + "***");
    CHECK(MaskSecrets(before + value + " rest") == shown + (before == shown ? "*** rest" : "***"));
  }
}

TEST_CASE("a quoted value is masked up to the closing quote", "[text]") {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {R"({"password": "two words", "batch": 8})", R"({"password": "***", "batch": 8})"},
      {R"({'HF_TOKEN': 'abc', 'HOME': '/root'})", R"({'HF_TOKEN': '***', 'HOME': '/root'})"},
      {R"("{\"api_key\": \"a b\", \"n\": 1}")", R"("{\"api_key\": \"***\", \"n\": 1}")"},
      {R"(PASSWORD="a\"b" python x)", R"(PASSWORD="***" python x)"},
      {R"(TOKEN='open)", R"(TOKEN='***)"},
      {R"(-H "Authorization: Bearer abc" url)", R"(-H "Authorization: Bearer ***" url)"},
      {R"(['train.py', '--token', 'abc', '--steps', '5'])", R"(['train.py', '--token', '***', '--steps', '5'])"},
      {R"(("Authorization", "Bearer abc"))", R"(("Authorization", "Bearer ***"))"},
      {R"(headers={'Cookie': 'a=1; b=2'})", R"(headers={'Cookie': '***'})"},
      {R"(password=b'raw')", R"(password=b'***')"},
  };
  for (const auto& [text, masked] : cases) CHECK(MaskSecrets(text) == masked);
}

TEST_CASE("a value ends before the next name, word or bracket", "[text]") {
  CHECK(MaskSecrets("Config(token=abc1234, batch=8)") == "Config(token=***, batch=8)");
  CHECK(MaskSecrets("Config(token=abc1234,batch=8)") == "Config(token=***,batch=8)");
  CHECK(MaskSecrets("PASSWORD=p@ss,w0rd!&x python") == "PASSWORD=*** python");
  CHECK(MaskSecrets("https://h/p?token=abc1234&n=1") == "https://h/p?token=***&n=1");
  CHECK(MaskSecrets("TOKEN=a1b2c3; python x.py") == "TOKEN=***; python x.py");
  CHECK(MaskSecrets("a.password=x b.password=y") == "a.password=*** b.password=***");
}

TEST_CASE("a long value is masked as a whole", "[text]") {
  CHECK(MaskSecrets("password=" + Random(5000) + " end") == "password=*** end");
  CHECK(MaskSecrets("{\"token\": \"" + Random(5000) + "\"}") == "{\"token\": \"***\"}");
}

TEST_CASE("tokens of known forms are masked without a name", "[text]") {
  for (const std::string token : {"ghp_" + Random(36),
                                  "gho_" + Random(36),
                                  "ghs_" + Random(36),
                                  "github_pat_" + Random(60),
                                  "hf_" + Random(34),
                                  "hf_" + std::string(34, 'q'),
                                  "sk-" + Random(48),
                                  "sk-proj-" + Random(40),
                                  "sk-ant-api03-" + Random(40),
                                  "AKIA" + std::string("ABCDEFGH23456789"),
                                  "ASIA" + std::string("ABCDEFGH23456789"),
                                  "AIza" + Random(35),
                                  "ya29." + Random(60),
                                  "xoxb-" + Random(40),
                                  "xoxp-" + Random(40),
                                  "xapp-" + Random(40),
                                  "glpat-" + Random(20),
                                  "eyJ" + Random(20) + ".eyJ" + Random(30) + "." + Random(43),
                                  "npm_" + Random(36),
                                  "pypi-" + Random(60),
                                  "wandb_v1_" + Random(40),
                                  "sk_live_" + Random(24),
                                  "nvapi-" + Random(60),
                                  "hvs." + Random(24),
                                  "hooks.slack.com/services/T0/B0/" + Random(24)}) {
    CAPTURE(token);
    CHECK(MaskSecrets("failed with " + token + " in use") == "failed with *** in use");
    CHECK(MaskSecrets("[" + token + "]") == "[***]");
    CHECK(MaskSecrets("jit_" + token) == "jit_***");
  }
}

TEST_CASE("credentials in URLs, headers and files are masked", "[text]") {
  CHECK(MaskSecrets("https://user:pa@ss@host/x") == "https://user:***@host/x");
  CHECK(MaskSecrets("redis://:pw@host:6379") == "redis://:***@host:6379");
  CHECK(MaskSecrets("git clone https://" + Random(20) + "@host/x") == "git clone https://***@host/x");
  CHECK(MaskSecrets("https://h/x?X-Goog-Signature=ab12&X-Goog-Expires=9") ==
        "https://h/x?X-Goog-Signature=***&X-Goog-Expires=9");
  CHECK(MaskSecrets("https://h/x?sv=1&sig=ab%2F12") == "https://h/x?sv=1&sig=***");
  CHECK(MaskSecrets("machine api.host login user password ab12") == "machine api.host login user password ***");
  CHECK(MaskSecrets("sshpass -p ab12 ssh h") == "sshpass -p *** ssh h");
  CHECK(MaskSecrets("curl -u me:ab12 https://h") == "curl -u me:*** https://h");
  CHECK(MaskSecrets("wandb.login(anonymous=None, key=\"ab12\")") == "wandb.login(anonymous=None, key=\"***\")");
  CHECK(MaskSecrets("client.login('me', 'ab12')") == "client.login('me', '***')");
  CHECK(MaskSecrets("get(url, auth=('me', 'ab12'))") == "get(url, auth=('me', '***'))");
  CHECK(MaskSecrets("huggingface_hub.login('" + Random(20) + "')") == "huggingface_hub.login('***')");
  CHECK(MaskSecrets("https://h/x?key=" + Random(20) + "&n=1") == "https://h/x?key=***&n=1");
  CHECK(MaskSecrets(R"({"name": "HF_TOKEN", "value": "ab12"})") == R"({"name": "HF_TOKEN", "value": "***"})");
  const std::string key = Random(64);
  CHECK(MaskSecrets("    \"" + key + "\\n\"") == "    \"***\\n\"");
  CHECK(MaskSecrets("x = \"" + key + "/model\"") == "x = \"" + key + "/model\"");  // not a line of a key
  CHECK(MaskSecrets("sent bearer " + Random(20)) == "sent bearer ***");
  const std::string dashes(5, '-');
  CHECK(MaskSecrets(dashes + "BEGIN RSA PRIVATE KEY" + dashes + "\nMIIE\n" + dashes + "END RSA PRIVATE KEY" + dashes) ==
        dashes + "BEGIN RSA PRIVATE KEY" + dashes + "***" + dashes + "END RSA PRIVATE KEY" + dashes);
  CHECK(MaskSecrets(dashes + "BEGIN PRIVATE KEY" + dashes + "\\nMIIE and cut") ==
        dashes + "BEGIN PRIVATE KEY" + dashes + "***");
}

TEST_CASE("text that a diagnosis needs is not masked", "[text]") {
  for (const std::string text :
       {"tokens=4096",
        "num_tokens: 8",
        "max_tokens=131072",
        "--max-tokens 4096",
        "max_num_batched_tokens=8192",
        "token_embedding",
        "token_embedding: f32[32000,4096]{1,0:T(8,128)}",
        "token: 17",
        "token=4096",
        "token: f32[8,128]",
        "%token.3 = token[] after-all()",
        "token=%after-all.3",
        "eos_token: </s>",
        "pad_token='[PAD]'",
        "bos_token=128000",
        "eos_token: <|endoftext|>",
        "Unexpected token: foo",
        "\"token\": \"hello\"",
        "tokenizer=meta-llama/Llama-3.1-8B",
        "TOKENIZERS_PARALLELISM=false",
        "key=Array([0, 42], dtype=uint32)",
        "KeyError: 'decoder'",
        "rng_key: [0 1]",
        "key_size=128",
        "num_kv_heads=8",
        "primary_key=id",
        "op_name=\"jit(train_step)/decoder/layers/attention/query_key_value/dot_general\"",
        "XLA_FLAGS=--xla_dump_to=/tmp/dump --xla_tpu_scoped_vmem_limit_kib=65536",
        "program_fingerprint: 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "/home/user/.cache/9f86d081884c7d659a2feaa0c55ad015a3bf4f1b/module_0001.jit_step.hlo",
        "author=someone",
        "authenticated: yes",
        "the compass=3",
        "PWD=/home/user/train",
        "GOOGLE_APPLICATION_CREDENTIALS=/home/user/key.json",
        "TOKEN=$HF_TOKEN",
        "token=${{ secrets.HF_TOKEN }}",
        "--token \"$TOKEN\"",
        "password: None",
        "token=null",
        "token=self.token",
        "%81 = stablehlo.create_token : !stablehlo.token loc(#loc1247)",
        "api_key = os.environ['API']",
        "token = get_token()",
        "api_key=api_key",
        "Token::Get",
        "password == other",
        "--password --verbose",
        "secrets",
        "token:",
        "password=",
        "gs://bucket/path@v1/file",
        "user@host.example",
        "https://host:8080/path",
        "ssh://git@host/repo",
        "sk-learn-something-long",
        "hf_model_config_for_training",
        "docker run -u 1000:1000 image",
        "KEY: value",
        "TPU_PROCESS_ADDRESSES=10.0.0.1:8476",
        "session 12 opened",
        "bearer of news arrived",
        "auth failed",
        "the hidden_size=4096 and Authorization is missing",
        "Authorization: required"}) {
    CAPTURE(text);
    CHECK(MaskSecrets(text) == text);
  }
}

TEST_CASE("masking is idempotent", "[text]") {
  for (const std::string text : {"password=abc", "https://u:p@h", "Authorization: Bearer abc", "Cookie: a=b; c=d",
                                 "h?sig=abc&x=1", "sshpass -p abc", "TOKEN='a b'", "--token abc"}) {
    const std::string masked = MaskSecrets(text);
    CHECK(masked != text);
    CHECK(MaskSecrets(masked) == masked);
  }
}

}  // namespace TEST_FILE
}  // namespace whyoom
