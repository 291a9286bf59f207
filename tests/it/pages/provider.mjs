// An identity provider that others wrote (npm's oidc-provider, certified by the OpenID Foundation) with three people:
// node provider.mjs PORT REDIRECT_ADDRESS. Whoever signs in types a name; any password is right.
import Provider from "oidc-provider";

const [port, back] = process.argv.slice(2);
const groups = { ada: ["platform"], bob: ["strangers"], eve: ["chess"] };
const provider = new Provider(`http://localhost:${port}`, {
  clients: [{ client_id: "whathappened", client_secret: "secret-of-the-client-01", redirect_uris: [back] }],
  claims: { openid: ["sub"], email: ["email"], groups: ["groups"] },
  scopes: ["openid", "email", "groups"],
  conformIdTokenClaims: false,
  pkce: { required: () => true },
  features: { devInteractions: { enabled: true } },
  cookies: { keys: ["a key of this test alone"] },
  findAccount: (_, id) => ({
    accountId: id,
    claims: () => ({ sub: id, email: `${id}@lab.example`, groups: groups[id] ?? [] }),
  }),
});
provider.listen(Number(port), "127.0.0.1", () => console.error(`ready http://localhost:${port}`));
