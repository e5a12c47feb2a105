# SERVICE-PURPOSE for each purpose, in as many characters as Google Cloud allows. Where the service's
# name is too long for that, a digest stands for its end.
locals {
  account_limit = 30
  limits = merge(
    { for purpose in keys(local.accounts) : purpose => local.account_limit },
    { runs = local.store_name_limit, vpc = 25 },
  )
  names = {
    for purpose, limit in local.limits : purpose =>
    length("${var.service}-${purpose}") <= limit
    ? "${var.service}-${purpose}"
    : "${substr(var.service, 0, limit - length(purpose) - 8)}-${substr(sha256(var.service), 0, 6)}-${purpose}"
  }
}
