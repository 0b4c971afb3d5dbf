#pragma once
// What a finished `assay` process tells its caller (docs/operations.md). Scripts may rely on these numbers.

namespace assay::cli {

enum ExitCode : int {
  kExitOk = 0,
  kExitNegative = 1,             // the answer is no: an invalid value, a failed or canceled receipt
  kExitUsage = 2,                // a flag, a configuration or an input file is wrong
  kExitUnreachable = 3,          // `ask`: the server cannot be reached or refused the request
  kExitAddressInUse = 4,         // `serve`: the address is taken or may not be bound
  kExitDatabaseUnavailable = 5,  // the database cannot be reached or the private cluster does not start
  kExitSchemaNewer = 6,          // the database was migrated by a newer assay
  kExitProviderUnavailable = 7,  // a provider whose model is not named cannot be asked for one
  kExitInternal = 70,            // also: `validate` cannot write its results
};

}  // namespace assay::cli
